/** Sampling on a Tinker server: requests that share a prompt travel together, and not all of them at once. */

import { hash32 } from '../../core/rng.ts';
import { Conversations } from '../../policy/conversations.ts';
import type { SampleRequest, SampleResult } from '../engine.ts';
import { limited, type Prompted, promptGroups } from './prompt-groups.ts';
import { checkSequences } from './sampled.ts';
import type { TinkerService } from './service.ts';

export interface TinkerSamplingOptions {
  readonly contextLength: number;
  /** Requests under way at once. */
  readonly concurrency: number;
}

/** A request that waits for its completion. */
interface Asked extends Prompted {
  readonly resolve: (result: SampleResult) => void;
  readonly reject: (reason: unknown) => void;
}

export class TinkerSampling {
  readonly #service: TinkerService;
  readonly #contextLength: number;
  readonly #inLine: ReturnType<typeof limited>;
  readonly #conversations = new Conversations();
  readonly #asked: Asked[] = [];
  #session: { readonly name: string; readonly version: number; samples: number };

  /** @param session of the weights that were published first */
  constructor(service: TinkerService, session: string, options: TinkerSamplingOptions) {
    this.#service = service;
    this.#contextLength = options.contextLength;
    this.#inLine = limited(options.concurrency);
    this.#session = { name: session, version: 0, samples: 0 };
  }

  /** What is not under way yet is sampled with other weights. */
  use(session: string, version: number): void {
    this.#session = { name: session, version, samples: 0 };
  }

  /**
   * Requests that are made at about the same time and differ in their seeds only travel together. Log-probabilities are
   * those at temperature 1, whatever the temperature of the request: the API has no others.
   */
  async sample(request: SampleRequest): Promise<SampleResult> {
    const prompt = [...this.#conversations.open(request, this.#contextLength).slice(0)];
    return new Promise((resolve, reject) => {
      if (this.#asked.length === 0) setImmediate(() => void this.#sampleAsked());
      this.#asked.push({ request, prompt, resolve, reject });
    });
  }

  /** Servers keep no caches for us; the tokens that later requests would keep may go. */
  release(conversations: readonly string[]): void {
    for (const conversation of conversations) this.#conversations.release(conversation);
  }

  /** After a failure, what is not under way is not begun. */
  async #sampleAsked(): Promise<void> {
    const groups = promptGroups(this.#asked.splice(0));
    let failure: { readonly cause: unknown } | undefined;
    const served = groups.map((members) =>
      this.#inLine(async () => {
        try {
          if (failure) throw failure.cause;
          await this.#sampleGroup(members);
        } catch (cause) {
          failure ??= { cause };
          for (const { reject } of members) reject(cause);
        }
      }),
    );
    await Promise.all(served);
  }

  async #sampleGroup(members: readonly Asked[]): Promise<void> {
    const { request, prompt } = members[0]!;
    const { sampling, stopIds, seed } = request;
    const session = this.#session;
    const output = await this.#service.sample({
      samplingSession: session.name,
      sequence: session.samples++,
      prompt,
      count: members.length,
      parameters: { ...sampling, stopIds, seed: hash32(seed) >>> 1 },
    });
    checkSequences(output.sequences, members.length, sampling.maxTokens);
    for (const [index, { request: own, resolve }] of members.entries()) {
      const { tokens, logprobs, finish } = output.sequences[index]!;
      this.#conversations.add(own.conversation, tokens);
      const ids = Int32Array.from(tokens);
      resolve({ ids, logprobs: Float32Array.from(logprobs), finish, version: session.version });
    }
  }
}
