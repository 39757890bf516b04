/** Keys of servers: made where nobody gave one, and compared without telling how much of a guess was right. */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A new key, which nobody can guess. */
export function newKey(prefix: string): string {
  return `${prefix}${randomBytes(24).toString('base64url')}`;
}

/** Whether two secrets are equal, in a time that depends on neither. */
export function sameSecret(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
