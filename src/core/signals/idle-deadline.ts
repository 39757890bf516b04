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

  /** The work; rejects once it has been idle for so long, and where `signal` is aborted. */
  async within<T>(work: PromiseLike<T>, signal?: AbortSignal): Promise<T> {
    let stop: (() => void) | undefined;
    try {
      return await new Promise((resolve, reject) => {
        stop = () => reject(signal?.reason);
        if (signal?.aborted) stop();
        signal?.addEventListener('abort', stop, { once: true });
        this.#expire = () => reject(this.#late());
        this.#start();
        Promise.resolve(work).then(resolve, reject);
      });
    } finally {
      if (stop) signal?.removeEventListener('abort', stop);
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
