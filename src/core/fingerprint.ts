/** A short name for a text: equal texts have equal ones, and different texts practically never. */

import { hash32 } from './rng.ts';

/** 32 hexadecimal digits. */
export function fingerprint(text: string): string {
  return [1, 2, 3, 4].map((seed) => (hash32(text, seed) >>> 0).toString(16).padStart(8, '0')).join('');
}
