/** A model under training: an engine, the order of its requests, and which of its weights are saved where. */

import type { AdamOptions, Engine } from '../../engine/engine.ts';
import type { CheckpointPlace } from './checkpoints.ts';
import type { AdapterKind } from './model-source.ts';
import { gone, invalid } from './refusals.ts';
import { Sequence, type SequenceOptions } from './sequence.ts';

export interface ModelCard {
  readonly modelId: string;
  readonly sessionId: string;
  readonly baseModel: string;
  readonly isLora: boolean;
  readonly adapter: AdapterKind;
  readonly userMetadata: unknown;
}

export class ServedModel {
  readonly card: ModelCard;
  readonly sequence: Sequence;
  lastRequest: Date = new Date();
  #engine: Promise<Engine>;
  /** Training requests run one after the other. */
  #last: Promise<unknown>;
  #unloaded = false;
  readonly #snapshots: CheckpointPlace[] = [];
  /** Counts changes of the weights. */
  #weights = 0;
  #published: { readonly snapshot: string; readonly weights: number; readonly engine: Engine } | undefined;

  constructor(card: ModelCard, engine: Promise<Engine>, options: SequenceOptions) {
    this.card = card;
    this.sequence = new Sequence(options);
    this.#engine = engine;
    this.#last = engine.catch(() => undefined);
  }

  get isUnloaded(): boolean {
    return this.#unloaded;
  }

  /** Work in its turn. What comes after a failure runs all the same. */
  inTurn<T>(work: (engine: Engine) => Promise<T>): Promise<T> {
    this.lastRequest = new Date();
    const result = this.#last.then(async () => {
      // A model that could not be made says why, rather than that it is gone.
      const loaded = await this.#engine;
      if (this.#unloaded) throw this.#gone();
      return work(loaded);
    });
    this.#last = result.catch(() => undefined);
    return result;
  }

  async optimStep(engine: Engine, options: AdamOptions): Promise<Record<string, number>> {
    this.#weights++;
    const { gradientNorm, applied } = await engine.optimStep(options);
    return {
      ...(Number.isFinite(gradientNorm) && { 'turnwise/grad_norm': gradientNorm }),
      'turnwise/learning_rate': options.learningRate,
      applied: applied ? 1 : 0,
    };
  }

  /** @throws TurnwiseError where saved weights are of an adapter that is made otherwise */
  requireAdapter({ rank, targets }: AdapterKind): void {
    const { isLora, adapter: own } = this.card;
    if (!isLora || (rank === own.rank && targets === own.targets)) return;
    throw invalid(
      'The saved weights are of another adapter',
      `rank ${rank} beside ${targets}`,
      `rank ${own.rank} beside ${own.targets}`,
    );
  }

  async load(engine: Engine, folder: string, optimizer: boolean): Promise<void> {
    this.#weights++;
    this.#published = undefined;
    await engine.load(folder, { optimizer });
  }

  /** Makes the present weights those of a snapshot, which the engine then samples from. */
  async publish(engine: Engine, snapshot: string): Promise<void> {
    this.#published = undefined;
    await engine.publish();
    this.#published = { snapshot, weights: this.#weights, engine };
  }

  /** The engine, where it samples from this snapshot now; with `trained`, where its training weights are those too. */
  engineOf(snapshot: string, trained: boolean): Engine | undefined {
    const published = this.#published;
    if (this.#unloaded || published?.snapshot !== snapshot) return undefined;
    return trained && published.weights !== this.#weights ? undefined : published.engine;
  }

  /** The engine, whatever it samples from. */
  async liveEngine(): Promise<Engine> {
    if (this.#unloaded) throw this.#gone();
    return this.#engine;
  }

  /** Takes note of a snapshot without a name; those that are too old to be kept. */
  remember(place: CheckpointPlace, kept: number): CheckpointPlace[] {
    this.#snapshots.push(place);
    return this.#snapshots.splice(0, Math.max(0, this.#snapshots.length - kept));
  }

  async unload(): Promise<void> {
    if (this.#unloaded) return;
    this.#unloaded = true;
    this.sequence.close();
    await this.#last;
    await this.#engine.then(
      (engine) => engine.close(),
      () => {},
    );
  }

  #gone(): Error {
    return gone('The model was unloaded', this.card.modelId, 'Create another, and load saved weights');
  }
}
