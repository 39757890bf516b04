/** What several engines in one thread share: weights that nobody changes, and the sessions that read them. */

import { createHash } from 'node:crypto';
import { type LoadedGraph, type LoadOptions, loadGraph } from '../../../graph/node/loaded-graph.ts';
import type { Weights } from '../../../model/checkpoint/safetensors.ts';

export class BaseModel {
  /** Under LoRA the weights that stay as they are; otherwise none, since all are trained. */
  readonly weights: Weights;
  /** What adapters of it call it. */
  readonly name: string;
  readonly #threads: number;
  readonly #sessions = new Map<string, Promise<LoadedGraph>>();
  #users = 0;
  #digest: string | undefined;

  constructor(weights: Weights, name: string, threads: number) {
    this.weights = weights;
    this.name = name;
    this.#threads = threads;
  }

  /** The session of this key, made from the bytes of a model where there is none yet. */
  session(
    key: string,
    bytes: () => Uint8Array,
    options: Pick<LoadOptions, 'plansMemory'> = {},
  ): Promise<LoadedGraph> {
    const known = this.#sessions.get(key);
    if (known !== undefined) return known;
    const session = loadGraph(bytes(), { threads: this.#threads, ...options });
    this.#sessions.set(key, session);
    return session;
  }

  /** Closes the sessions of these keys, which keep the memory that they once needed. Others may use them where there are several engines. */
  async giveUp(keys: Iterable<string>): Promise<void> {
    if (this.#users > 1) return;
    for (const key of keys) {
      const session = this.#sessions.get(key);
      this.#sessions.delete(key);
      await (await session)?.close();
    }
  }

  /** SHA-256 of names and values: equal for equal weights, however they are stored. Computed when first asked for. */
  digest(): string {
    if (this.#digest !== undefined) return this.#digest;
    const hash = createHash('sha256');
    for (const name of [...this.weights.keys()].sort()) {
      const { data } = this.weights.get(name)!;
      hash.update(name).update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    }
    this.#digest = hash.digest('hex');
    return this.#digest;
  }

  retain(): void {
    this.#users++;
  }

  /** Releases the sessions when the last user has gone. */
  async release(): Promise<void> {
    if (--this.#users > 0) return;
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    for (const session of sessions) await (await session).close();
  }
}
