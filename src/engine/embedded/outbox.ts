/** Messages of one moment travel together: requests that are made together arrive together, and cost one message. */
export class Outbox<T> {
  readonly #post: (items: readonly T[], transfer: ArrayBuffer[]) => void;
  #items: T[] = [];
  #transfer: ArrayBuffer[] = [];

  /** @param post sends what one moment brought */
  constructor(post: (items: readonly T[], transfer: ArrayBuffer[]) => void) {
    this.#post = post;
  }

  /** `transfer` names buffers that are handed over; the caller must not use them afterwards. */
  push(item: T, transfer: readonly ArrayBuffer[] = []): void {
    if (this.#items.length === 0) queueMicrotask(() => this.#flush());
    this.#items.push(item);
    this.#transfer.push(...transfer);
  }

  #flush(): void {
    const [items, transfer] = [this.#items, this.#transfer];
    this.#items = [];
    this.#transfer = [];
    this.#post(items, transfer);
  }
}
