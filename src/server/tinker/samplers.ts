/** Engines that only sample: of the base model, and of snapshots that their model has since moved on from. */

import type { Engine } from '../../engine/engine.ts';
import type { CheckpointPlace, Checkpoints } from './checkpoints.ts';
import { pathOf } from './checkpoints.ts';
import type { ModelSource } from './model-source.ts';

interface Entry {
  readonly engine: Promise<Engine>;
  /** Requests that use it now. */
  users: number;
}

export class Samplers {
  readonly #source: ModelSource;
  readonly #checkpoints: Checkpoints;
  readonly #most: number;
  /** In order of last use. */
  readonly #entries = new Map<string, Entry>();

  constructor(source: ModelSource, checkpoints: Checkpoints, most: number) {
    this.#source = source;
    this.#checkpoints = checkpoints;
    this.#most = most;
  }

  /** Lends an engine with these weights, or with those of the base model; loads them where they are not in memory. */
  async use<T>(place: CheckpointPlace | undefined, work: (engine: Engine) => Promise<T>): Promise<T> {
    const key = place === undefined ? '' : pathOf(place);
    const entry = this.#entries.get(key) ?? { engine: this.#open(place), users: 0 };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.users++;
    try {
      return await work(await entry.engine);
    } catch (error) {
      // One that could not be made is not kept.
      entry.engine.catch(() => this.#entries.delete(key));
      throw error;
    } finally {
      entry.users--;
      await this.#evict();
    }
  }

  async close(): Promise<void> {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    await Promise.allSettled(entries.map(async ({ engine }) => (await engine).close()));
  }

  async #open(place: CheckpointPlace | undefined): Promise<Engine> {
    if (place === undefined) return this.#source.create({ rank: 0, targets: 'all', seed: 'base' });
    const { rank, targets } = await this.#checkpoints.require(place);
    const engine = await this.#source.create({ rank, targets, seed: 'sampler' });
    try {
      await engine.load(this.#checkpoints.folder(place));
      return engine;
    } catch (error) {
      await engine.close();
      throw error;
    }
  }

  async #evict(): Promise<void> {
    for (const [key, { engine, users }] of this.#entries) {
      if (this.#entries.size <= this.#most) return;
      if (users > 0) continue;
      this.#entries.delete(key);
      await engine.then((idle) => idle.close()).catch(() => {});
    }
  }
}
