/** A session on a Tinker server: kept alive by heartbeats, it owns models and sampling sessions until it is closed. */

import type { z } from 'zod';
import type { TurnwiseError } from '../../core/errors.ts';
import { decodeSampleOutput } from '../../wire/tinker/protobuf.ts';
import type { SampleOutput } from '../../wire/tinker/shapes.ts';
import {
  anySchema,
  capabilitiesSchema,
  clientConfigSchema,
  futureSchema,
  readAnswer,
  sampleSchema,
  samplingSessionSchema,
  sessionSchema,
} from './answers.ts';
import { type FutureKind, type FutureOptions, resultOf } from './futures.ts';
import { type RetryPolicy, Transport } from './transport.ts';

export interface ServiceOptions {
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly policy?: Partial<RetryPolicy>;
  readonly futures?: Partial<FutureOptions>;
  readonly heartbeatMs?: number;
  /** The server lets us wait, and why. */
  readonly onWait?: (reason: string) => void;
}

export interface SamplingParameters {
  readonly maxTokens: number;
  readonly seed: number;
  readonly stopIds: readonly number[];
  readonly temperature: number;
  readonly topP: number;
  /** 0 keeps all. */
  readonly topK: number;
}

const futureDefaults: FutureOptions = { resultTimeoutMs: 30 * 60_000, pollMs: 45_000 };
const closeTimeoutMs = 5000;
const sampleKind: FutureKind<SampleOutput> = {
  name: 'sampling',
  schema: sampleSchema,
  decode: decodeSampleOutput,
};

export class TinkerService {
  readonly transport: Transport;
  readonly limits: z.output<typeof clientConfigSchema>;
  readonly sessionId: string;
  readonly #options: FutureOptions;
  readonly #stop: AbortController;
  readonly #heartbeat: NodeJS.Timeout;
  /** Requests of ours that the server still works on: they are called off when the session closes. */
  readonly #sampling = new Set<string>();
  #samplingSessions = 0;
  #models = 0;

  private constructor(
    transport: Transport,
    stop: AbortController,
    limits: z.output<typeof clientConfigSchema>,
    sessionId: string,
    options: ServiceOptions,
  ) {
    this.transport = transport;
    this.limits = limits;
    this.sessionId = sessionId;
    this.#stop = stop;
    this.#options = { ...futureDefaults, ...options.futures };
    this.#heartbeat = setInterval(() => void this.#beat(), options.heartbeatMs ?? 10_000);
    this.#heartbeat.unref();
  }

  /** Says hello and opens a session. */
  static async connect(options: ServiceOptions): Promise<TinkerService> {
    const stop = new AbortController();
    const transport = new Transport({ ...options, signal: stop.signal });
    const hello = { sdk_version: 'turnwise' };
    // Servers without this route have the defaults. One that is not there at the start is not waited for.
    const config = await transport.request('/client/config', {
      body: hello,
      expect: [404, 405],
      mustReach: true,
    });
    const limits = readAnswer(
      clientConfigSchema,
      config.status < 300 ? JSON.parse(Buffer.from(config.bytes).toString('utf8') || '{}') : {},
      'The configuration for clients',
    );
    const session = readAnswer(
      sessionSchema,
      await transport.json('/create_session', {
        body: { tags: ['turnwise'], ...hello, type: 'create_session' },
      }),
      'The new session',
    );
    return new TinkerService(transport, stop, limits, session.session_id, options);
  }

  /** Names of the models that can be trained, with their context lengths where they are told. */
  async models(): Promise<readonly { readonly name: string; readonly contextLength: number | undefined }[]> {
    const answer = await this.transport.json('/get_server_capabilities', { method: 'GET' });
    const { supported_models } = readAnswer(capabilitiesSchema, answer, 'The list of models');
    return supported_models.map(({ model_name, max_context_length }) => ({
      name: model_name ?? '',
      contextLength: max_context_length ?? undefined,
    }));
  }

  /** Submits work and waits for its result. */
  async run<T>(kind: FutureKind<T>, submit: () => Promise<string>): Promise<T> {
    return this.result(kind, await submit(), submit);
  }

  result<T>(kind: FutureKind<T>, requestId: string, submit: () => Promise<string>): Promise<T> {
    return resultOf(this.transport, kind, requestId, submit, this.#options);
  }

  /** Posts work; its number. */
  async submit(route: string, content: { body: unknown } | { protobuf: Uint8Array }): Promise<string> {
    const answer = await this.transport.json(route, content);
    return readAnswer(futureSchema, answer, `The answer of ${route}`).request_id;
  }

  nextModelNumber(): number {
    return this.#models++;
  }

  nextSamplingSessionNumber(): number {
    return this.#samplingSessions++;
  }

  /** A sampling session on a base model, or on weights saved for sampling. */
  async createSamplingSession(
    source: { readonly baseModel: string } | { readonly modelPath: string },
  ): Promise<string> {
    const answer = await this.transport.json('/create_sampling_session', {
      body: {
        session_id: this.sessionId,
        sampling_session_seq_id: this.nextSamplingSessionNumber(),
        ...('baseModel' in source ? { base_model: source.baseModel } : { model_path: source.modelPath }),
        type: 'create_sampling_session',
      },
    });
    return readAnswer(samplingSessionSchema, answer, 'The sampling session').sampling_session_id;
  }

  /** `count` completions of one prompt; the i-th has the seed of the parameters plus i. */
  async sample(request: {
    readonly samplingSession: string;
    /** Counts the requests of the sampling session, from 0. */
    readonly sequence: number;
    readonly prompt: readonly number[];
    readonly count: number;
    readonly parameters: SamplingParameters;
    readonly promptLogprobs?: boolean;
  }): Promise<SampleOutput> {
    const { maxTokens, seed, stopIds, temperature, topP, topK } = request.parameters;
    const body = {
      sampling_session_id: request.samplingSession,
      seq_id: request.sequence,
      num_samples: request.count,
      prompt: { chunks: [{ type: 'encoded_text', tokens: request.prompt }] },
      sampling_params: {
        max_tokens: maxTokens,
        seed,
        stop: stopIds,
        temperature,
        top_p: topP,
        top_k: topK === 0 ? -1 : topK,
      },
      ...(request.promptLogprobs && { prompt_logprobs: true }),
      type: 'sample',
    };
    const submit = (): Promise<string> => this.submit('/asample', { body });
    const requestId = await submit();
    this.#sampling.add(requestId);
    try {
      return await this.result(sampleKind, requestId, submit);
    } finally {
      if (!this.#stop.signal.aborted) this.#sampling.delete(requestId);
    }
  }

  /** Any answer of a route that only tells: `/training_runs`, `/training_runs/{id}/checkpoints`, `/samplers/{id}`. */
  async describe(route: string): Promise<Readonly<Record<string, unknown>>> {
    return readAnswer(anySchema, await this.transport.json(route, { method: 'GET' }), route);
  }

  async weightsInfo(path: string): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.transport.json('/weights_info', { body: { tinker_path: path } });
    return readAnswer(anySchema, answer, 'What is known of the weights');
  }

  /** `checkpoint` is `weights/<name>` or `sampler_weights/<name>`. */
  async deleteCheckpoint(modelId: string, checkpoint: string): Promise<void> {
    await this.transport.request(`/training_runs/${modelId}/checkpoints/${checkpoint}`, { method: 'DELETE' });
  }

  /** Weights saved for sampling, as a compressed archive of a PEFT adapter or of a whole model. */
  async downloadCheckpoint(modelId: string, checkpoint: string): Promise<Uint8Array> {
    const route = `/training_runs/${modelId}/checkpoints/${checkpoint}/archive`;
    return (
      await this.transport.request(route, { method: 'GET', timeoutMs: 10 * 60_000, mostBytes: 4 * 2 ** 30 })
    ).bytes;
  }

  /** Ends all waiting, calls off what still runs, and lets `unload` free what the session holds; never throws. */
  async close(unload: (transport: Transport) => Promise<void> = async () => {}): Promise<void> {
    clearInterval(this.#heartbeat);
    this.#stop.abort();
    const farewell = this.transport.with(AbortSignal.timeout(closeTimeoutMs));
    const cancel = [...this.#sampling].map((request_id) =>
      farewell.request('/cancel_future', { body: { request_id }, once: true }),
    );
    await Promise.allSettled([...cancel, unload(farewell)]);
  }

  /** A missed beat is no failure: the session lives for minutes without. Requests find out when it does not. */
  async #beat(): Promise<void> {
    await this.transport
      .request('/session_heartbeat', {
        body: { session_id: this.sessionId, type: 'session_heartbeat' },
        once: true,
        timeoutMs: 10_000,
      })
      .catch((error: TurnwiseError) => {
        if (error.fields?.status === 404 || error.fields?.status === 410) clearInterval(this.#heartbeat);
      });
  }
}
