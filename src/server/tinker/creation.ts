/** Models come and go: each is made once however often it is asked for, as long as there is room, and forgotten in the end. */

import type { Checkpoints } from './checkpoints.ts';
import type { Futures, Result } from './futures.ts';
import type { ServerLimits } from './limits.ts';
import type { AdapterKind, ModelSource } from './model-source.ts';
import { conflict, tooMany } from './refusals.ts';
import { type ModelCard, ServedModel } from './served-model.ts';

export type ModelOwner = Pick<ModelCard, 'modelId' | 'sessionId' | 'userMetadata'>;

export class Creation {
  readonly #source: ModelSource;
  readonly #models: Map<string, ServedModel>;
  readonly #futures: Futures;
  readonly #checkpoints: Checkpoints;
  readonly #limits: ServerLimits;
  /** Requests that made a model, by model: sent again they are the same. */
  readonly #requests = new Map<string, { readonly fingerprint: string; readonly requestId: string }>();

  constructor(
    source: ModelSource,
    models: Map<string, ServedModel>,
    futures: Futures,
    checkpoints: Checkpoints,
    limits: ServerLimits,
  ) {
    this.#source = source;
    this.#models = models;
    this.#futures = futures;
    this.#checkpoints = checkpoints;
    this.#limits = limits;
  }

  /** The future of a request that was seen before, as the one that makes this model. */
  requestOf(modelId: string, fingerprint: string): string | undefined {
    const known = this.#requests.get(modelId);
    return known?.fingerprint === fingerprint ? known.requestId : undefined;
  }

  /** Takes `requestId` for the one that makes the model, as where loading its first weights is. */
  remember(modelId: string, fingerprint: string, requestId: string): void {
    this.#requests.set(modelId, { fingerprint, requestId });
  }

  /** The future of the new model, which `open` opens; that of the same request where it was seen before. */
  create(
    owner: ModelOwner,
    fingerprint: string,
    { rank, targets }: AdapterKind,
    seed: number | null | undefined,
    open: () => string,
  ): string {
    const { modelId } = owner;
    const again = this.requestOf(modelId, fingerprint);
    if (again !== undefined) return again;
    if (this.#requests.has(modelId)) throw conflict('The number of the model was used for another', modelId);
    const requestId = open();
    this.remember(modelId, fingerprint, requestId);
    const engine = this.#hasRoom()
      ? this.#source.create({ rank, targets, seed: String(seed ?? modelId) })
      : Promise.reject(this.#noRoom());
    const { name: baseModel, isLora } = this.#source;
    const model = new ServedModel(
      { ...owner, baseModel, isLora, adapter: { rank, targets } },
      engine,
      this.#limits,
    );
    this.#models.set(modelId, model);
    // One that could not be made is forgotten, metadata and all; what was asked of it meanwhile still says why.
    engine.catch(() => {
      this.forget(modelId);
      return model.unload();
    });
    const result = engine.then((): Result => {
      const lora_config = { rank, seed: seed ?? null };
      return { json: { model_id: modelId, base_model: baseModel, lora_config, type: 'create_model' } };
    });
    this.#futures.follow(requestId, result);
    return requestId;
  }

  forget(modelId: string): void {
    this.#models.delete(modelId);
    this.#requests.delete(modelId);
  }

  /** Unloaded models are told of for a while: the oldest are forgotten first. */
  forgetUnloaded(): void {
    const unloaded = [...this.#models].filter(([, model]) => model.isUnloaded);
    for (const [modelId] of unloaded.slice(0, Math.max(0, unloaded.length - this.#limits.keptUnloaded))) {
      this.forget(modelId);
      void this.#checkpoints.deleteEphemeral(modelId).catch(() => undefined);
    }
  }

  get #loaded(): number {
    return [...this.#models.values()].filter(({ isUnloaded }) => !isUnloaded).length;
  }

  #hasRoom(): boolean {
    return this.#loaded < this.#limits.mostModels;
  }

  #noRoom(): Error {
    return tooMany(
      'There is no room for another model',
      `${this.#loaded} are loaded`,
      'Unload one, or let its session end',
    );
  }
}
