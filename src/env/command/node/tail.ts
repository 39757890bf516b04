/** The end of a stream of bytes, however long it gets. */
export class Tail {
  readonly #limit: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  /** @param limit bytes that are kept at least, where there are more */
  constructor(limit: number) {
    this.#limit = limit;
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    while (this.#bytes - (this.#chunks[0]?.length ?? 0) >= this.#limit) {
      this.#bytes -= this.#chunks.shift()?.length ?? 0;
    }
  }

  text(): string {
    return Buffer.concat(this.#chunks).subarray(-this.#limit).toString('utf8');
  }
}
