/** The events of a run as something to iterate: those that are stored already, then each one as it happens. */

import type { RunEvent } from '../train/loop/events.ts';

export class LiveEvents implements AsyncIterable<RunEvent> {
  readonly #past: () => readonly RunEvent[];
  readonly #listeners = new Set<(event?: RunEvent) => void>();
  #over: { readonly error?: unknown } | undefined;

  /** @param past the stored events so far, read once for each who iterates */
  constructor(past: () => readonly RunEvent[]) {
    this.#past = past;
  }

  push(event: RunEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Nothing more comes. Whoever iterates gets the error at the end, where there is one. */
  end(over: { readonly error?: unknown } = {}): void {
    this.#over = over;
    for (const listener of this.#listeners) listener();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RunEvent, void, undefined> {
    const queue = [...this.#past()];
    let wake = (): void => {};
    const listener = (event?: RunEvent): void => {
      if (event) queue.push(event);
      wake();
    };
    this.#listeners.add(listener);
    try {
      for (;;) {
        for (let event = queue.shift(); event !== undefined; event = queue.shift()) yield event;
        if (this.#over) break;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if ('error' in this.#over) throw this.#over.error;
    } finally {
      this.#listeners.delete(listener);
    }
  }
}
