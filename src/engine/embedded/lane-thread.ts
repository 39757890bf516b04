/** A lane in a thread of its own, with one core to itself. */

import type { DecoderShape } from '../../model/decoder.ts';
import type { Weights } from '../../model/safetensors.ts';
import type { SampleRequest, SampleResult } from '../engine.ts';
import type { Lane, LaneStatistics } from './sampling-lane.ts';
import { WorkerLink } from './worker-link.ts';

export interface LaneSettings {
  readonly shape: DecoderShape;
  readonly weights: Weights;
  readonly slots: number;
}

export interface LaneCall {
  readonly id: number;
  readonly verb: keyof Lane;
  readonly parameters: readonly never[];
}

export class LaneThread implements Lane {
  readonly #link: WorkerLink<LaneCall>;

  constructor(entry: URL, settings: LaneSettings) {
    this.#link = new WorkerLink(entry, { name: 'turnwise-lane', workerData: settings });
  }

  sample(requests: readonly SampleRequest[]): Promise<SampleResult[]> {
    return this.#call('sample', [requests]) as Promise<SampleResult[]>;
  }

  async release(conversations: readonly string[]): Promise<void> {
    await this.#call('release', [conversations]);
  }

  async reset(): Promise<void> {
    await this.#call('reset', []);
  }

  async setWeights(weights: Weights): Promise<void> {
    await this.#call('setWeights', [weights]);
  }

  statistics(): Promise<LaneStatistics> {
    return this.#call('statistics', []) as Promise<LaneStatistics>;
  }

  async close(): Promise<void> {
    await this.#call('close', []);
    await this.#link.terminate();
  }

  #call(verb: keyof Lane, parameters: readonly unknown[]): Promise<unknown> {
    return this.#link.call({ verb, parameters: parameters as readonly never[] });
  }
}
