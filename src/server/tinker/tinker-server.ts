/** The Tinker API over our engines: sessions, models under training, snapshots to sample from. Knows nothing of HTTP. */

import type { Engine } from '../../engine/engine.ts';
import { LogprobEvaluator } from '../../objective/contract/at-logprobs.ts';
import type { ForwardBackwardRequest } from '../../wire/tinker/shapes.ts';
import { type CheckpointPlace, Checkpoints, parsePath, pathOf } from './checkpoints.ts';
import { Creation } from './creation.ts';
import { Futures, type Result } from './futures.ts';
import { diskSweepMs, type ServerLimits, serverLimits } from './limits.ts';
import type { ModelSource } from './model-source.ts';
import { preparePass, runPass } from './passes.ts';
import { invalid, isFinal, tooMany, unknown } from './refusals.ts';
import * as requests from './requests.ts';
import { read } from './requests.ts';
import { passResult, pending, sampleResult, samplesPending } from './results.ts';
import { type Lend, sampleOn } from './sampling.ts';
import { SamplingSessions, type SamplingSource } from './sampling-sessions.ts';
import type { ServedModel } from './served-model.ts';
import { ServedWeights } from './served-weights.ts';
import { Sessions } from './sessions.ts';

export class TinkerServer {
  readonly source: ModelSource;
  readonly sessions: Sessions;
  readonly futures: Futures;
  readonly checkpoints: Checkpoints;
  readonly models = new Map<string, ServedModel>();
  readonly #creation: Creation;
  readonly #limits: ServerLimits;
  readonly #weights: ServedWeights;
  readonly #evaluator = new LogprobEvaluator();
  readonly #sampling = new SamplingSessions();
  readonly #sweeper: NodeJS.Timeout;
  #sweptDiskAt = 0;

  constructor(source: ModelSource, folder: string, limits: Partial<ServerLimits> = {}) {
    this.source = source;
    this.#limits = { ...serverLimits, ...limits };
    this.sessions = new Sessions(this.#limits);
    this.futures = new Futures(this.#limits);
    this.checkpoints = new Checkpoints(folder);
    this.#creation = new Creation(source, this.models, this.futures, this.checkpoints, this.#limits);
    const modelOf = (modelId: string) => this.models.get(modelId);
    this.#weights = new ServedWeights(source, this.checkpoints, this.#limits.mostSamplers, modelOf);
    this.#sweeper = setInterval(() => void this.sweep(), Math.min(10_000, this.#limits.sessionTimeoutMs / 4));
    this.#sweeper.unref();
  }

  createModel(body: unknown, fingerprint: string): object {
    const request = read(requests.createModelSchema, body);
    this.sessions.hear(request.session_id);
    this.#requireBase(request.base_model);
    const { lora_config: config, user_metadata: userMetadata } = request;
    const adapter = requests.adapterOf(config);
    if (this.source.isLora && adapter.rank === 0)
      throw invalid('This server trains adapters, not whole models', 'rank 0', 'a rank of at least 1');
    const modelId = `${request.session_id}:train:${request.model_seq_id}`;
    const owner = { modelId, sessionId: request.session_id, userMetadata };
    const open = () => this.#open(request.session_id, true);
    const requestId = this.#creation.create(owner, fingerprint, adapter, config.seed, open);
    return {
      ...pending(requestId),
      model_id: modelId,
      base_model: request.base_model,
      lora_config: { ...config, train_unembed: false },
      status: 'created',
    };
  }

  pass(request: ForwardBackwardRequest, fingerprint: string): object {
    const model = this.#model(request.modelId);
    const pass = preparePass(request);
    return this.#train(model, request.seqId, fingerprint, async (engine) =>
      passResult(await runPass(engine, this.#evaluator, pass)),
    );
  }

  optimStep(body: unknown, fingerprint: string): object {
    const { model_id, seq_id, adam_params } = read(requests.optimStepSchema, body);
    const model = this.#model(model_id);
    return this.#train(model, seq_id, fingerprint, async (engine) => {
      const metrics = await model.optimStep(engine, requests.adamOf(adam_params));
      return { json: { metrics, type: 'optim_step' } };
    });
  }

  saveWeights(body: unknown, fingerprint: string): object {
    const { model_id, seq_id, path, overwrite, ttl_seconds: ttlSeconds } = read(requests.saveSchema, body);
    const model = this.#model(model_id);
    const place: CheckpointPlace = { modelId: model_id, kind: 'weights', name: path };
    return this.#train(model, seq_id, fingerprint, async (engine) => {
      await this.#weights.save(model, engine, place, { overwrite, ttlSeconds });
      return { json: { path: pathOf(place), type: 'save_weights' } };
    });
  }

  saveForSampler(body: unknown, fingerprint: string): object {
    const request = read(requests.saveForSamplerSchema, body);
    const model = this.#model(request.model_id);
    const { modelId, sessionId } = model.card;
    const type = 'save_weights_for_sampler';
    return this.#train(model, request.seq_id, fingerprint, async (engine) => {
      if (typeof request.path === 'string') {
        const place: CheckpointPlace = { modelId, kind: 'sampler_weights', name: request.path };
        await this.#weights.save(model, engine, place, { ttlSeconds: request.ttl_seconds });
        await model.publish(engine, pathOf(place));
        return { json: { path: pathOf(place), sampling_session_id: null, type } };
      }
      const number = request.sampling_session_seq_id!;
      const place: CheckpointPlace = { modelId, kind: 'ephemeral', name: `${number}-${request.seq_id}` };
      const isSnapshot = request.kind === 'snapshot';
      await model.publish(engine, isSnapshot ? pathOf(place) : `inflight of ${modelId}`);
      if (isSnapshot) this.#weights.keep(model, engine, place, this.#limits.keptSnapshots);
      const source: SamplingSource = isSnapshot ? { kind: 'snapshot', place } : { kind: 'inflight', modelId };
      const id = this.#sampling.open(sessionId, number, fingerprint, source);
      return { json: { path: null, sampling_session_id: id, type } };
    });
  }

  async loadWeights(body: unknown, fingerprint: string): Promise<object> {
    const request = read(requests.loadSchema, body);
    const place = parsePath(request.path, 'weights');
    const { rank, targets } = await this.checkpoints.require(place);
    let modelId = request.model_id ?? '';
    if (typeof request.session_id === 'string') {
      this.sessions.hear(request.session_id);
      modelId = `${request.session_id}:train:${request.model_seq_id}`;
      const again = this.#creation.requestOf(modelId, fingerprint);
      if (again !== undefined) return pending(again);
      const owner = { modelId, sessionId: request.session_id, userMetadata: null };
      const open = () => this.#open(owner.sessionId, true);
      this.#creation.create(owner, `${fingerprint} creation`, { rank, targets }, undefined, open);
    }
    const model = this.#model(modelId);
    const isAgain = typeof request.seq_id === 'number' && request.seq_id <= model.sequence.count;
    if (model.sequence.count > 0 && !isAgain)
      throw invalid('A model loads weights only as its first request', modelId, 'a new model');
    model.requireAdapter({ rank, targets });
    const answer = this.#train(model, request.seq_id, fingerprint, async (engine) => {
      await model.load(engine, this.checkpoints.folder(place), request.optimizer);
      return { json: { path: request.path, model_id: modelId, type: 'load_weights' } };
    });
    if (typeof request.session_id === 'string') {
      const { request_id: requestId } = answer as { request_id: string };
      this.#creation.remember(modelId, fingerprint, requestId);
    }
    return answer;
  }

  unloadModel(body: unknown): object {
    const { model_id } = read(requests.modelIdSchema, body);
    const model = this.#model(model_id);
    const requestId = this.#open(model.card.sessionId, true);
    const done = async (): Promise<Result> => {
      await model.unload();
      this.#creation.forgetUnloaded();
      return { json: { model_id, status: 'unloaded', type: 'unload_model' } };
    };
    this.futures.follow(requestId, done());
    return { ...pending(requestId), model_id };
  }

  createSamplingSession(body: unknown, fingerprint: string): object {
    const request = read(requests.samplingSessionSchema, body);
    this.sessions.hear(request.session_id);
    const source = this.#sourceOf(request.base_model, request.model_path);
    const id = this.#sampling.open(request.session_id, request.sampling_session_seq_id, fingerprint, source);
    return { sampling_session_id: id, type: 'create_sampling_session' };
  }

  sampler(id: string): object {
    const { source } = this.#sampling.get(id);
    return {
      sampler_id: id,
      base_model: this.source.name,
      model_path: source.kind === 'snapshot' ? pathOf(source.place) : null,
    };
  }

  async sample(body: unknown, fingerprint: string): Promise<object> {
    const request = requests.readSample(body);
    if (typeof request.sampling_session_id !== 'string') {
      const source = this.#sourceOf(request.base_model, request.model_path);
      if (source.kind === 'snapshot') await this.checkpoints.require(source.place);
      return samplesPending(this.#sample('without session', source, request), request.num_samples);
    }
    const session = this.#sampling.get(request.sampling_session_id);
    this.sessions.hear(session.sessionId);
    const begin = (): string => this.#sample(session.sessionId, session.source, request);
    const requestId = this.#sampling.enter(session, request.seq_id!, fingerprint, begin);
    return samplesPending(requestId, request.num_samples);
  }

  /** Samples go on where they have begun, and their result is dropped; what changes a model is not called off. */
  cancel(body: unknown): object {
    this.futures.cancel(read(requests.futureSchema, body).request_id);
    return {};
  }

  /** Nobody waits for a training request that was refused. */
  refuse(request: unknown, error: unknown): void {
    if (!isFinal(error)) return;
    const numbers = requests.numbersSchema.safeParse(request);
    if (numbers.success) this.models.get(numbers.data.model_id)?.sequence.refuse(numbers.data.seq_id);
  }

  /** Models of sessions that have gone silent, results that nobody read, and expired checkpoints are given up. */
  async sweep(): Promise<void> {
    this.futures.sweep();
    if (performance.now() - this.#sweptDiskAt > diskSweepMs) {
      this.#sweptDiskAt = performance.now();
      await this.checkpoints.all();
    }
    for (const id of this.sessions.expired()) await this.endSession(id);
  }

  /** Ends a session and everything that it holds. */
  async endSession(sessionId: string): Promise<void> {
    this.sessions.end(sessionId);
    this.futures.drop(sessionId);
    this.#sampling.end(sessionId);
    for (const [modelId, model] of this.models) {
      if (model.card.sessionId !== sessionId) continue;
      this.#creation.forget(modelId);
      await model.unload();
      // A file that is written while its folder is deleted would stay, or fail the deletion.
      await this.#weights.written();
      await this.checkpoints.deleteEphemeral(modelId);
    }
  }

  /** What a session holds. @throws TurnwiseError `request-unknown`, `request-gone` */
  session(id: string): { readonly models: readonly string[]; readonly samplers: readonly string[] } {
    this.sessions.hear(id);
    const models = [...this.models.values()].filter(({ card }) => card.sessionId === id);
    return { models: models.map(({ card }) => card.modelId), samplers: this.#sampling.idsOf(id) };
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    for (const id of this.sessions.ids()) await this.endSession(id);
    await this.#weights.close();
    await this.#evaluator.close();
  }

  model(id: string): ServedModel {
    const model = this.models.get(id);
    if (model === undefined) throw unknown('Model', id);
    return model;
  }

  #model(id: string): ServedModel {
    const model = this.model(id);
    this.sessions.hear(model.card.sessionId);
    return model;
  }

  #train(
    model: ServedModel,
    seqId: number | null | undefined,
    fingerprint: string,
    work: (engine: Engine) => Promise<Result>,
  ): object {
    const requestId = model.sequence.enter(seqId ?? undefined, fingerprint, {
      open: () => this.#open(model.card.sessionId, true),
      start: (id) => this.futures.follow(id, model.inTurn(work)),
      fail: (id, error) => this.futures.fail(id, error),
    });
    return pending(requestId);
  }

  #sample(owner: string, source: SamplingSource, request: requests.SampleBody): string {
    const requestId = this.#open(owner, false);
    const lend: Lend = async (trained, work) =>
      source.kind === 'inflight'
        ? work(await this.#model(source.modelId).liveEngine())
        : this.#weights.lend(source, trained, work);
    const output = sampleOn(lend, this.source, request);
    this.futures.follow(requestId, output.then(sampleResult));
    return requestId;
  }

  #sourceOf(baseModel: string | null | undefined, modelPath: string | null | undefined): SamplingSource {
    if (typeof modelPath === 'string')
      return { kind: 'snapshot', place: parsePath(modelPath, 'sampler_weights') };
    this.#requireBase(baseModel ?? '');
    return { kind: 'base' };
  }

  #requireBase(name: string): void {
    if (name !== this.source.name) throw unknown('Base model', name, this.source.name);
  }

  #open(owner: string, keeps: boolean): string {
    if (this.futures.size >= this.#limits.mostFutures)
      throw tooMany('Too many requests are under way', String(this.futures.size), 'Read the results of some');
    return this.futures.open(owner, keeps);
  }
}
