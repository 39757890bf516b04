/** A token bucket: so many calls a second on average, more at once when it has been quiet. */

export class RateLimit {
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #filledMs: number;

  constructor(perSecond: number, burst: number, nowMs: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
    this.#filledMs = nowMs;
  }

  /** Seconds to wait before the next call; 0 where this one may pass. */
  take(nowMs: number): number {
    this.#tokens = Math.min(this.#burst, this.#tokens + ((nowMs - this.#filledMs) / 1000) * this.#perSecond);
    this.#filledMs = nowMs;
    if (this.#tokens < 1) return (1 - this.#tokens) / this.#perSecond;
    this.#tokens -= 1;
    return 0;
  }
}
