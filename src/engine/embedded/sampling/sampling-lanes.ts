/** Sampling over several lanes: every conversation stays in one, and the lanes share the work evenly. */

import type { TokenTexts } from '../../../core/constraint.ts';
import type { Weights } from '../../../model/checkpoint/safetensors.ts';
import type { SampleRequest, SampleResult } from '../../engine.ts';
import type { Lane, LaneStatistics } from './sampling-lane.ts';

export class SamplingLanes {
  readonly #lanes: readonly Lane[];
  /** Which lane a conversation is in; conversations of each lane. */
  readonly #laneOf = new Map<string, number>();
  readonly #load: number[];
  readonly #inFlight = new Set<Promise<unknown>>();
  #open: Promise<void> = Promise.resolve();
  #pauses = 0;
  #version = 0;
  #resume: (() => void) | undefined;

  constructor(lanes: readonly Lane[]) {
    this.#lanes = lanes;
    this.#load = lanes.map(() => 0);
  }

  /** Requests that are made together reach each lane together. */
  async sample(request: SampleRequest, heard?: (id: number) => void): Promise<SampleResult> {
    while (this.#pauses > 0) await this.#open;
    const version = this.#version;
    const lane = this.#lanes[this.#laneFor(request.conversation)]!;
    const work = heard ? lane.sample(request, heard) : lane.sample(request);
    this.#inFlight.add(work);
    try {
      return { ...(await work), version };
    } finally {
      this.#inFlight.delete(work);
    }
  }

  async learnTexts(texts: TokenTexts): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.learnTexts(texts)));
  }

  async finish(conversation: string): Promise<void> {
    const lane = this.#laneOf.get(conversation);
    if (lane !== undefined) await this.#lanes[lane]!.finish([conversation]);
  }

  async release(conversations: readonly string[]): Promise<void> {
    const byLane = this.#lanes.map((): string[] => []);
    for (const conversation of conversations) {
      const lane = this.#laneOf.get(conversation);
      if (lane === undefined) continue;
      this.#laneOf.delete(conversation);
      this.#load[lane]!--;
      byLane[lane]!.push(conversation);
    }
    await Promise.all(
      byLane.map((gone, lane) => (gone.length > 0 ? this.#lanes[lane]!.release(gone) : undefined)),
    );
  }

  /** Finishes what has been asked so far and forgets all caches; what is asked from now on waits for `resume`. */
  async pause(): Promise<void> {
    if (this.#pauses++ === 0)
      this.#open = new Promise((resolve) => {
        this.#resume = resolve;
      });
    await Promise.allSettled(this.#inFlight);
    await Promise.all(this.#lanes.map((lane) => lane.reset()));
  }

  resume(): void {
    if (--this.#pauses === 0) this.#resume!();
  }

  /** Between `pause` and `resume`. */
  async setWeights(weights: Weights, version: number): Promise<void> {
    this.#version = version;
    await Promise.all(this.#lanes.map((lane) => lane.setWeights(weights)));
  }

  /** Summed over the lanes. */
  async statistics(): Promise<LaneStatistics> {
    const all = await Promise.all(this.#lanes.map((lane) => lane.statistics()));
    const total = (key: keyof LaneStatistics): number => all.reduce((sum, one) => sum + one[key], 0);
    return {
      forwardTokens: total('forwardTokens'),
      paddedTokens: total('paddedTokens'),
      calls: total('calls'),
      conversations: total('conversations'),
      cacheBytes: total('cacheBytes'),
    };
  }

  /** Finishes what has been asked first: a thread that is ended within a call of the runtime takes the process with it. */
  async close(): Promise<void> {
    await this.pause();
    await Promise.all(this.#lanes.map((lane) => lane.close()));
  }

  /** The lane that knows the conversation, or else the one with the fewest conversations. */
  #laneFor(conversation: string): number {
    const known = this.#laneOf.get(conversation);
    if (known !== undefined) return known;
    const lane = this.#load.indexOf(Math.min(...this.#load));
    this.#laneOf.set(conversation, lane);
    this.#load[lane]!++;
    return lane;
  }
}
