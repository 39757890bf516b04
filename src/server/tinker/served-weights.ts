/** Where weights to sample from are had: in the engine of their model, on the disk, or on their way there. */

import type { Engine } from '../../engine/engine.ts';
import {
  type CheckpointCard,
  type CheckpointPlace,
  type Checkpoints,
  expiry,
  pathOf,
} from './checkpoints.ts';
import type { ModelSource } from './model-source.ts';
import { conflict, gone } from './refusals.ts';
import { Samplers } from './samplers.ts';
import type { SamplingSource } from './sampling-sessions.ts';
import type { ServedModel } from './served-model.ts';

export interface SaveOptions {
  readonly overwrite?: boolean;
  readonly ttlSeconds?: number | null | undefined;
}

export class ServedWeights {
  readonly #checkpoints: Checkpoints;
  readonly #samplers: Samplers;
  readonly #modelOf: (modelId: string) => ServedModel | undefined;
  /** Snapshots on their way to the disk. */
  readonly #writing = new Map<string, Promise<unknown>>();

  constructor(
    source: ModelSource,
    checkpoints: Checkpoints,
    mostSamplers: number,
    modelOf: (modelId: string) => ServedModel | undefined,
  ) {
    this.#checkpoints = checkpoints;
    this.#samplers = new Samplers(source, checkpoints, mostSamplers);
    this.#modelOf = modelOf;
  }

  /** Writes a checkpoint under a name; an existing one only with `overwrite`. */
  async save(
    model: ServedModel,
    engine: Engine,
    place: CheckpointPlace,
    { overwrite = false, ttlSeconds }: SaveOptions = {},
  ): Promise<void> {
    if (!overwrite && (await this.#checkpoints.find(place)) !== undefined)
      throw conflict('A checkpoint of that name exists', pathOf(place));
    const expiresAt = expiry(ttlSeconds);
    const card = { ...cardOf(model), ...(expiresAt !== undefined && { expiresAt }) };
    await this.#checkpoints.write(place, card, (folder) => engine.save(folder));
  }

  /**
   * Writes a snapshot for when its model has moved on, and gives up those before the last `kept`. The engine saves before
   * it takes up what it is asked next, and until then samples from memory, so nobody waits for the disk.
   */
  keep(model: ServedModel, engine: Engine, place: CheckpointPlace, kept: number): void {
    const old = model.remember(place, kept);
    const written = this.#checkpoints
      .write(place, cardOf(model), (folder) => engine.save(folder))
      .then(() => Promise.all(old.map((snapshot) => this.#checkpoints.delete(snapshot))))
      .catch(() => undefined)
      .finally(() => this.#writing.delete(pathOf(place)));
    this.#writing.set(pathOf(place), written);
  }

  /** Lends the model's own engine where it has these weights now, otherwise one that is loaded with them. */
  async lend<T>(
    source: Exclude<SamplingSource, { kind: 'inflight' }>,
    trained: boolean,
    work: (engine: Engine) => Promise<T>,
  ): Promise<T> {
    if (source.kind === 'base') return this.#samplers.use(undefined, work);
    const { place } = source;
    const engine = this.#modelOf(place.modelId)?.engineOf(pathOf(place), trained);
    if (engine !== undefined) return work(engine);
    await this.#writing.get(pathOf(place));
    if (place.kind === 'ephemeral' && (await this.#checkpoints.find(place)) === undefined)
      throw gone('The snapshot is no longer kept', pathOf(place), 'Save weights under a name to keep them');
    return this.#samplers.use(place, work);
  }

  /** When no snapshot is on its way to the disk any more. */
  async written(): Promise<void> {
    await Promise.all(this.#writing.values());
  }

  close(): Promise<void> {
    return this.#samplers.close();
  }
}

function cardOf({ card }: ServedModel): CheckpointCard {
  const { modelId, baseModel, isLora, adapter } = card;
  return { modelId, baseModel, isLora, ...adapter, time: new Date().toISOString() };
}
