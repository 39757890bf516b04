/** An engine behind HTTP: hosted and self-hosted servers of the Tinker API. */

import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { TurnwiseError } from '../../core/errors.ts';
import type { Objective } from '../../objective/contract/objective.ts';
import { garbled } from '../../wire/tinker/garbled.ts';
import { filesOf } from '../../wire/tinker/tar.ts';
import { checkBatch, checkRows, checkSampleRequest } from '../checks.ts';
import type {
  AdamOptions,
  Engine,
  EngineCapabilities,
  ForwardBackwardResult,
  OptimStepResult,
  SampleRequest,
  SampleResult,
  ScoredRows,
  ScoreRequest,
  TokenBatch,
  TokenScores,
} from '../engine.ts';
import {
  requireFreeSampling,
  requireLogprobsOnly,
  requirePlainTemperature,
  requireWholeVocabulary,
  tinkerAbilities,
} from './abilities.ts';
import { readCheckpointFile, writeCheckpointFile } from './checkpoint-file.ts';
import { clientClosed } from './errors.ts';
import { Gradients, logprobsAt } from './gradients.ts';
import { gradientNorm, type LossScale } from './loss-scale.ts';
import { TinkerSampling } from './sampling.ts';
import type { ServiceOptions, TinkerService } from './service.ts';
import { TrainingModel } from './training-model.ts';

export interface TinkerEngineOptions extends ServiceOptions {
  readonly baseModel: string;
  readonly loraRank: number;
  readonly seed: number;
  /** Tokens that the model has, which the API does not tell; by default ids are not checked here. */
  readonly vocabulary?: number;
  /** Longest sequence; by default what the server says of the model. */
  readonly contextLength?: number;
  /** How the server scales losses; by default it is found out. */
  readonly lossScale?: LossScale;
  /** Speak protobuf where the API has it, as hosted servers ask for. */
  readonly protobuf?: boolean;
  /** Requests for samples under way at once. */
  readonly concurrency?: number;
}

/** Ids travel as 32-bit numbers. */
const mostIds = 2 ** 31;

/** Use `createTinkerEngine`. */
export class TinkerEngine implements Engine {
  readonly capabilities: EngineCapabilities;
  readonly lossScale: LossScale;
  readonly #service: TinkerService;
  readonly #options: TinkerEngineOptions;
  readonly #gradients: Gradients;
  #model: TrainingModel;
  #frozen: { readonly model: TrainingModel; readonly path: string } | undefined;
  readonly #sampling: TinkerSampling;
  #version = 0;
  #closed = false;

  constructor(
    service: TinkerService,
    model: TrainingModel,
    published: string,
    options: TinkerEngineOptions & { readonly contextLength: number; readonly lossScale: LossScale },
  ) {
    this.#service = service;
    this.#model = model;
    this.#options = options;
    this.lossScale = options.lossScale;
    this.#gradients = new Gradients(options.lossScale);
    const concurrency = Math.min(options.concurrency ?? 64, service.limits.sample_max_concurrent_requests);
    this.#sampling = new TinkerSampling(service, published, { ...options, concurrency });
    this.capabilities = {
      vocabulary: options.vocabulary ?? mostIds,
      contextLength: options.contextLength,
      ...tinkerAbilities,
      deterministic: false,
    };
  }

  get version(): number {
    return this.#version;
  }

  /** As `TinkerSampling` has it, with what was published last. */
  async sample(request: SampleRequest): Promise<SampleResult> {
    this.#requireOpen();
    requireFreeSampling(request);
    checkSampleRequest(request, this.capabilities);
    return this.#sampling.sample(request);
  }

  release(conversations: readonly string[]): void {
    this.#sampling.release(conversations);
  }

  async score({ rows, allowed_B }: ScoredRows, options: ScoreRequest): Promise<TokenScores> {
    this.#requireOpen();
    requireWholeVocabulary({ allowed_N: allowed_B?.flatMap((allowed_T) => allowed_T ?? []) });
    requireLogprobsOnly(options);
    requirePlainTemperature(options.temperature);
    checkRows(rows, this.capabilities);
    if (options.frozen && this.#frozen === undefined) {
      throw new TurnwiseError('engine-not-frozen', {
        what: 'There is no reference policy to score with',
        next: 'Call freeze() once before scoring with `frozen`',
      });
    }
    const model = options.frozen ? this.#frozen!.model : this.#model;
    return { logprobs: await logprobsAt(model, rows) };
  }

  async forwardBackward(
    batch: TokenBatch,
    objective: Objective,
    options: { temperature: number },
  ): Promise<ForwardBackwardResult> {
    this.#requireOpen();
    requirePlainTemperature(options.temperature);
    requireLogprobsOnly(objective.needs);
    checkBatch(batch, ['weight', ...objective.channels], this.capabilities);
    const { rows, targets } = batch;
    requireWholeVocabulary(targets);
    const tokens = rows.reduce((total, { ids_T }) => total + ids_T.length - 1, 0);
    if (targets.row_N.length === 0) return { loss: 0, metrics: {}, tokens, paddedTokens: tokens };
    const { loss, metrics } = await this.#gradients.add(this.#model, batch, objective);
    return { loss, metrics, tokens, paddedTokens: tokens };
  }

  /** The gradient norm is 0 where the server does not tell it. */
  async optimStep(options: AdamOptions): Promise<OptimStepResult> {
    this.#requireOpen();
    if (options.only !== undefined) {
      throw new TurnwiseError('engine-unsupported', {
        what: 'The Tinker API has no way to move some parameters alone',
        seen: options.only,
        next: 'Move all parameters, or use the embedded engine',
      });
    }
    const [, metrics] = await Promise.all([
      this.#gradients.settle(this.#model),
      this.#model.optimStep(options),
    ]);
    return { gradientNorm: gradientNorm(metrics) ?? 0, applied: metrics.applied !== 0 };
  }

  /** A new model with the present weights takes the place of the present one: servers forget moments only so. */
  async restartOptimizer(): Promise<void> {
    this.#requireOpen();
    const path = await this.#model.save(uniqueName('restart'));
    await this.#model.unloaded();
    this.#model = await this.#modelFrom(path, false);
  }

  async publish(): Promise<number> {
    this.#requireOpen();
    this.#sampling.use(await this.#model.publish(), ++this.#version);
    return this.#version;
  }

  /** The reference policy is a second model, loaded from weights saved now; it takes a place on the server. */
  async freeze(rate = 1): Promise<void> {
    this.#requireOpen();
    if (rate !== 1) {
      throw new TurnwiseError('engine-unsupported', {
        what: 'The Tinker API has no way to move a copy of the weights part of the way',
        seen: `rate ${rate}`,
        next: 'Use the embedded engine for methods with a moving target network',
      });
    }
    await this.#freezeFrom(await this.#model.save(uniqueName('frozen')));
  }

  /** Saves weights and optimizer state on the server, and where they are in `tinker.json`. */
  async save(folder: string): Promise<void> {
    this.#requireOpen();
    const { baseModel, loraRank } = this.#options;
    await writeCheckpointFile(folder, {
      baseUrl: this.#service.transport.baseUrl,
      baseModel,
      loraRank,
      version: this.#version,
      path: await this.#model.save(uniqueName('step')),
      frozenPath: this.#frozen?.path ?? null,
    });
  }

  /** A new model with the saved weights takes the place of the present one: servers load only into new models. */
  async load(folder: string, options: { readonly optimizer?: boolean } = {}): Promise<void> {
    this.#requireOpen();
    const { path, frozenPath, version } = await readCheckpointFile(folder, this.#options);
    this.#gradients.forget();
    await this.#model.unloaded();
    this.#model = await this.#modelFrom(path, options.optimizer ?? true);
    this.#sampling.use(await this.#model.publish(), version);
    if (frozenPath !== null) await this.#freezeFrom(frozenPath);
    this.#version = version;
  }

  /**
   * Writes the trained adapter as a folder that `peft` loads, as the server has it.
   *
   * @throws TurnwiseError `tinker-garbled` where what was downloaded is no archive
   */
  async exportAdapter(folder: string): Promise<void> {
    this.#requireOpen();
    const name = uniqueName('export');
    await this.#model.saveForSampling(name);
    const { modelId } = this.#model;
    const bytes = await this.#service.downloadCheckpoint(modelId, `sampler_weights/${name}`);
    let archive: Uint8Array;
    try {
      archive = gunzipSync(bytes);
    } catch (cause) {
      throw garbled('a download of weights is no archive', `${bytes.length} bytes`, cause);
    }
    await mkdir(folder, { recursive: true });
    for (const file of filesOf(archive)) await writeFile(join(folder, file.name), file.bytes);
  }

  /** Ends all waiting, gives the places of the models back, and ends the session. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#service.close(async (transport) => {
      await this.#model.unload(transport);
      await this.#frozen?.model.unload(transport);
    });
    await this.#gradients.close();
  }

  async #freezeFrom(path: string): Promise<void> {
    const former = this.#frozen;
    this.#frozen = undefined;
    await former?.model.unloaded();
    this.#frozen = { model: await this.#modelFrom(path, false), path };
  }

  async #modelFrom(path: string, optimizer: boolean): Promise<TrainingModel> {
    const model = await TrainingModel.create(this.#service, this.#options, this.#options.protobuf);
    await model.load(path, { optimizer });
    return model;
  }

  #requireOpen(): void {
    if (this.#closed) throw clientClosed();
  }
}

const uniqueName = (kind: string): string => `${kind}-${randomUUID().slice(0, 13)}`;
