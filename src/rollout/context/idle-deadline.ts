/** A deadline that counts only while nobody else is waited for. */

export class IdleDeadline {
  readonly #ms: number;
  readonly #late: () => Error;
  #timer: NodeJS.Timeout | undefined;
  #paused = 0;
  #expire: (() => void) | undefined;

  constructor(ms: number, late: () => Error) {
    this.#ms = ms;
    this.#late = late;
  }

  /** The work; rejects once it has been idle for so long. */
  async within<T>(work: PromiseLike<T>): Promise<T> {
    try {
      return await new Promise((resolve, reject) => {
        this.#expire = () => reject(this.#late());
        this.#start();
        Promise.resolve(work).then(resolve, reject);
      });
    } finally {
      this.#expire = undefined;
      clearTimeout(this.#timer);
    }
  }

  pause(): void {
    this.#paused++;
    clearTimeout(this.#timer);
  }

  go(): void {
    this.#paused--;
    this.#start();
  }

  #start(): void {
    clearTimeout(this.#timer);
    if (this.#expire && this.#paused === 0) this.#timer = setTimeout(this.#expire, this.#ms);
  }
}
