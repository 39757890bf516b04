/** Warnings that say the same again and again: told once, then counted, so that they do not push everything else away. */

import { withoutIds } from '../../core/json/without-ids.ts';
import { visible } from '../../core/visible.ts';
import type { Paint } from '../../show/console.ts';
import type { StoredEvent } from '../../train/loop/events.ts';

type Warning = Extract<StoredEvent, { type: 'warning' }>;

export class RepeatedWarnings {
  readonly #seen = new Map<string, { readonly first: Warning; count: number; told: number }>();
  readonly #paint: Paint;

  constructor(paint: Paint) {
    this.#paint = paint;
  }

  /** The line for a warning; nothing where one that differs only in ids and numbers was told, but for the 10th, 100th and so on. */
  tell(warning: Warning): string | undefined {
    const kind = `${warning.code} ${withoutIds(warning.message)}`;
    const known = this.#seen.get(kind) ?? { first: warning, count: 0, told: 0 };
    this.#seen.set(kind, known);
    known.count++;
    if (known.count === 1) {
      known.told = 1;
      return this.#line(warning);
    }
    if (!/^10+$/.test(String(known.count))) return undefined;
    known.told = known.count;
    return this.#line(warning, known.count);
  }

  /** At the end: those that came more often than was told. */
  rest(): string[] {
    return [...this.#seen.values()]
      .filter(({ count, told }) => count > told)
      .map(({ first, count }) => this.#line(first, count));
  }

  #line({ message, code }: Warning, count = 1): string {
    const like = count === 1 ? '' : `${this.#paint('yellow', ` ${count} like this:`)}`;
    return `${this.#paint('yellow', 'warning')}${like} ${visible(message)} ${this.#paint('dim', `(${code})`)}`;
  }
}
