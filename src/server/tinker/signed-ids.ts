/**
 * Names that nobody can guess and their giver recognises without remembering them: numbers, signed with a secret of this process.
 * Who has not been told a name cannot ask about the work of others, or call it off.
 */

import { createHmac, randomBytes } from 'node:crypto';
import { sameSecret } from '../guard/secrets.ts';

export class SignedIds {
  readonly #secret = randomBytes(32);
  #count = 0;

  next(): string {
    return this.#signed(++this.#count);
  }

  /** Whether this name was given here, however long ago. */
  isOwn(id: string): boolean {
    const number = Number(/^([1-9]\d{0,15})-/.exec(id)?.[1] ?? Number.NaN);
    return number <= this.#count && sameSecret(id, this.#signed(number));
  }

  #signed(number: number): string {
    const signature = createHmac('sha256', this.#secret).update(String(number)).digest('base64url');
    return `${number}-${signature.slice(0, 24)}`;
  }
}
