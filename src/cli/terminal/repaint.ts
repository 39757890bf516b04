/** A block of lines at the end of the screen that is painted over, below lines that stay. */

import { type Console, type Paint, truncateStyled } from '../../show/console.ts';

export class RepaintedBlock {
  readonly #console: Console;
  #lines = 0;

  constructor(console: Console) {
    this.#console = console;
  }

  /** Whether anything is painted. */
  get shown(): boolean {
    return this.#lines > 0;
  }

  /** Replace the block; `above` is text that stays, with its line ends. */
  paint(above: string, block: readonly string[]): void {
    if (this.#lines > 0) this.#console.erase(this.#lines);
    // A line that wraps would be two, and the next painting would leave one of them behind.
    const lines = block.map((line) => `${truncateStyled(line, this.#console.columns)}\n`);
    this.#console.write(above + lines.join(''));
    this.#lines = block.length;
  }
}

/** A bar that is full to `share`. */
export function paintedBar(share: number, width: number, paint: Paint): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * width);
  return paint('cyan', '━'.repeat(full)) + paint('dim', '─'.repeat(width - full));
}
