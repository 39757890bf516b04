/** A model under training on a Tinker server: requests in one order, in pieces that the server can take, each sent once. */

import { TurnwiseError } from '../../core/errors.ts';
import { garbled } from '../../wire/tinker/garbled.ts';
import { decodeForwardBackwardOutput, encodeForwardBackwardRequest } from '../../wire/tinker/protobuf.ts';
import type { Datum, ForwardBackwardOutput } from '../../wire/tinker/shapes.ts';
import type { AdamOptions } from '../engine.ts';
import {
  anySchema,
  finiteEntries,
  forwardBackwardSchema,
  metricsSchema,
  modelSchema,
  readAnswer,
  samplingSessionSchema,
  savedSchema,
} from './answers.ts';
import { chunks, joinOutputs } from './chunks.ts';
import type { FutureKind } from './futures.ts';
import type { TinkerService } from './service.ts';
import type { Transport } from './transport.ts';

export interface Loss {
  readonly name: string;
  readonly settings: Readonly<Record<string, number>>;
}

export interface ModelRequest {
  readonly baseModel: string;
  readonly loraRank: number;
  readonly seed?: number;
}

const creation = { name: 'creation of a model', schema: modelSchema };
const step = { name: 'optimizer step', schema: metricsSchema };
const saving = { name: 'saving of weights', schema: savedSchema };
const loading = { name: 'loading of weights', schema: anySchema };
const publishing = { name: 'publishing of weights', schema: samplingSessionSchema };
const unloading = { name: 'unloading of a model', schema: anySchema };
const pass = (forwardOnly: boolean): FutureKind<ForwardBackwardOutput> => ({
  name: forwardOnly ? 'forward pass' : 'forward-backward pass',
  schema: forwardBackwardSchema,
  decode: decodeForwardBackwardOutput,
});

export class TrainingModel {
  readonly modelId: string;
  readonly #service: TinkerService;
  /** Passes go as protobuf: from the start where that is asked for, otherwise once the server has refused JSON (415). */
  #protobuf: boolean;
  #sequence = 1;
  /** Requests are submitted one after the other, since not every server sorts by their numbers. */
  #submitted: Promise<unknown> = Promise.resolve();

  private constructor(service: TinkerService, modelId: string, protobuf: boolean) {
    this.#service = service;
    this.modelId = modelId;
    this.#protobuf = protobuf;
  }

  static async create(
    service: TinkerService,
    { baseModel, loraRank, seed }: ModelRequest,
    protobuf = false,
  ): Promise<TrainingModel> {
    const body = {
      session_id: service.sessionId,
      model_seq_id: service.nextModelNumber(),
      base_model: baseModel,
      lora_config: { rank: loraRank, ...(seed !== undefined && { seed }) },
      type: 'create_model',
    };
    const { model_id } = await service.run(creation, () => service.submit('/create_model', { body }));
    return new TrainingModel(service, model_id, protobuf);
  }

  /**
   * Log-probabilities and losses of every token; with `forwardOnly` no gradient. Submitted before this returns its promise's
   * first tick, so that an optimizer step asked for right after it follows without waiting for the result.
   */
  async forwardBackward(
    data: readonly Datum[],
    loss: Loss,
    options: { readonly forwardOnly?: boolean } = {},
  ): Promise<ForwardBackwardOutput> {
    const forwardOnly = options.forwardOnly ?? false;
    const parts = chunks(data, {
      length: this.#service.limits.fwdbwd_max_chunk_len,
      bytes: this.#service.limits.fwdbwd_max_chunk_bytes_count,
    });
    const outputs = await Promise.all(
      parts.map((part) =>
        this.#inOrder(pass(forwardOnly), (seqId) => this.#submitPass(part, loss, forwardOnly, seqId)),
      ),
    );
    const whole = joinOutputs(outputs);
    if (whole.outputs.length !== data.length)
      throw garbled(
        'the server answered for another number of data',
        `${whole.outputs.length} for ${data.length}`,
      );
    return whole;
  }

  async optimStep(options: AdamOptions): Promise<Readonly<Record<string, number>>> {
    const { metrics } = await this.#json(step, '/optim_step', {
      adam_params: {
        learning_rate: options.learningRate,
        beta1: options.beta1,
        beta2: options.beta2,
        eps: options.epsilon,
        weight_decay: options.weightDecay,
        grad_clip_norm: options.clipNorm,
      },
      type: 'optim_step',
    });
    return finiteEntries(metrics);
  }

  /** Makes the present weights those of a new sampling session. */
  async publish(): Promise<string> {
    const { sampling_session_id } = await this.#json(publishing, '/save_weights_for_sampler', {
      sampling_session_seq_id: this.#service.nextSamplingSessionNumber(),
      type: 'save_weights_for_sampler',
    });
    return sampling_session_id;
  }

  /** Saves weights and optimizer state under a name; the path that `load` takes. */
  async save(name: string): Promise<string> {
    return (await this.#json(saving, '/save_weights', { path: name, type: 'save_weights' })).path;
  }

  /** Saves weights for sampling under a name. */
  async saveForSampling(name: string): Promise<string> {
    const body = { path: name, type: 'save_weights_for_sampler' };
    return (await this.#json(saving, '/save_weights_for_sampler', body)).path;
  }

  /** Only as the first thing that a model is asked for. */
  async load(path: string, options: { readonly optimizer: boolean }): Promise<void> {
    await this.#json(loading, '/load_weights', { path, ...options, type: 'load_weights' });
  }

  async info(): Promise<Readonly<Record<string, unknown>>> {
    const body = { model_id: this.modelId, type: 'get_info' };
    return readAnswer(anySchema, await this.#service.transport.json('/get_info', { body }), 'The model');
  }

  /** Frees the model's place on the server. */
  async unload(transport: Transport = this.#service.transport): Promise<void> {
    await transport.request('/unload_model', { body: { model_id: this.modelId }, expect: [404] });
  }

  /** As `unload`, and waits until the place is free. */
  async unloaded(): Promise<void> {
    const body = { model_id: this.modelId };
    await this.#service.run(unloading, () => this.#service.submit('/unload_model', { body }));
  }

  #json<T>(kind: FutureKind<T>, route: string, content: Readonly<Record<string, unknown>>): Promise<T> {
    return this.#inOrder(kind, (seq_id) =>
      this.#service.submit(route, { body: { model_id: this.modelId, seq_id, ...content } }),
    );
  }

  async #submitPass(
    data: readonly Datum[],
    loss: Loss,
    forwardOnly: boolean,
    seqId: number,
  ): Promise<string> {
    if (!this.#protobuf) {
      try {
        return await this.#submitJsonPass(data, loss, forwardOnly, seqId);
      } catch (error) {
        if (!TurnwiseError.isInstance(error) || error.fields.status !== 415) throw error;
        this.#protobuf = true;
      }
    }
    const { modelId } = this;
    const request = { modelId, seqId, data, lossName: loss.name, lossConfig: loss.settings, forwardOnly };
    return this.#service.submit('/forward_backward', { protobuf: encodeForwardBackwardRequest(request) });
  }

  #submitJsonPass(data: readonly Datum[], loss: Loss, forwardOnly: boolean, seqId: number): Promise<string> {
    const { modelId } = this;
    const input = {
      data: data.map(datumAsJson),
      loss_fn: loss.name,
      ...(Object.keys(loss.settings).length > 0 && { loss_fn_config: loss.settings }),
    };
    return this.#service.submit(forwardOnly ? '/forward' : '/forward_backward', {
      body: {
        model_id: modelId,
        seq_id: seqId,
        ...(forwardOnly ? { forward_input: input } : { forward_backward_input: input }),
      },
    });
  }

  /**
   * Submits when everything before has been taken, then waits for the result beside the others. A number is used up only by
   * a request that the server took; one that was lost on the way is sent again with the same number, which servers notice.
   */
  async #inOrder<T>(kind: FutureKind<T>, submit: (seqId: number) => Promise<string>): Promise<T> {
    const submission = this.#submitted.then(async () => {
      const seqId = this.#sequence;
      const requestId = await submit(seqId);
      this.#sequence++;
      return { seqId, requestId };
    });
    this.#submitted = submission.catch(() => undefined);
    const { seqId, requestId } = await submission;
    return this.#service.result(kind, requestId, () => submit(seqId));
  }
}

function datumAsJson({ tokens, inputs }: Datum): object {
  const tensors = Object.entries(inputs).map(([name, values]) => [
    name,
    {
      data: [...values],
      dtype: values instanceof Int32Array ? 'int64' : 'float32',
      shape: [values.length],
    },
  ]);
  return {
    model_input: { chunks: [{ type: 'encoded_text', tokens: [...tokens] }] },
    loss_fn_inputs: Object.fromEntries(tensors),
  };
}
