/** One sampler with its cache: all of an engine's sampling, or one of several lanes that run side by side. */

import type { TokenTexts } from '../../../core/constraint.ts';
import type { Weights } from '../../../model/checkpoint/safetensors.ts';
import type { SampleRequest } from '../../engine.ts';
import { CachedDecoder } from './cached-decoder.ts';
import type { DecodeSource } from './decode-program.ts';
import { Grammars } from './grammars.ts';
import { Sampler } from './sampler.ts';
import type { Sampled } from './slot.ts';

export interface LaneStatistics {
  /** Tokens fed to the model, without and with padding. */
  readonly forwardTokens: number;
  readonly paddedTokens: number;
  readonly calls: number;
  readonly conversations: number;
  readonly cacheBytes: number;
}

export interface Lane {
  /** @param heard hears each id; absent: that of the request does */
  sample(request: SampleRequest, heard?: (id: number) => void): Promise<Sampled>;
  /** What tokens write, before anything is held to a form. */
  learnTexts(texts: TokenTexts): void | Promise<void>;
  /** Ends the completions of these conversations soon. */
  finish(conversations: readonly string[]): void | Promise<void>;
  release(conversations: readonly string[]): void | Promise<void>;
  /** Finishes what was asked so far and forgets all caches, so that what follows does not depend on what came before. */
  reset(): Promise<void>;
  /** `reset`, and goes on with a copy of these weights. */
  setWeights(weights: Weights): Promise<void>;
  statistics(): LaneStatistics | Promise<LaneStatistics>;
  close(): Promise<void>;
}

/** A lane in this thread. */
export class SamplingLane implements Lane {
  readonly #decoder: CachedDecoder;
  readonly #sampler: Sampler;
  readonly #grammars: Grammars;

  private constructor(decoder: CachedDecoder, slots: number, contextLength: number) {
    this.#decoder = decoder;
    const limits = { chunkTokens: 64, callTokens: 2048, sharedTokens: 32 };
    this.#sampler = new Sampler(decoder, { slots, contextLength, ...limits });
    this.#grammars = new Grammars(decoder.vocabulary);
  }

  static async create(source: DecodeSource, weights: Weights, slots: number): Promise<SamplingLane> {
    return new SamplingLane(await CachedDecoder.create(source, weights), slots, source.shape.contextLength);
  }

  sample(given: SampleRequest, heard?: (id: number) => void): Promise<Sampled> {
    const request = heard ? { ...given, heard: goingOn(heard) } : given;
    const { constraint } = request;
    if (constraint === undefined) return this.#sampler.sample(request);
    return this.#grammars
      .walk(constraint, request.stopIds)
      .then((walk) => this.#sampler.sample(request, walk));
  }

  learnTexts(texts: TokenTexts): void {
    this.#grammars.learnTexts(texts);
  }

  finish(conversations: readonly string[]): void {
    this.#sampler.finish(conversations);
  }

  release(conversations: readonly string[]): void {
    this.#sampler.release(conversations);
  }

  async reset(): Promise<void> {
    await this.#sampler.pause();
    this.#sampler.resume();
  }

  async setWeights(weights: Weights): Promise<void> {
    try {
      await this.#sampler.pause();
      await this.#decoder.setWeights(weights);
    } finally {
      this.#sampler.resume();
    }
  }

  statistics(): LaneStatistics {
    const { forwardTokens, paddedTokens, calls } = this.#sampler.statistics;
    const { cacheBytes } = this.#decoder;
    return { forwardTokens, paddedTokens, calls, conversations: this.#sampler.conversations, cacheBytes };
  }

  close(): Promise<void> {
    return this.#decoder.close();
  }
}

/** Who hears from another thread says later that it is enough. */
function goingOn(heard: (id: number) => void): (id: number) => true {
  return (id) => {
    heard(id);
    return true;
  };
}
