/**
 * Probes: whatever watches a run beside the loop. They look at the learner after a step and change nothing of it. Their
 * figures join the event of the step, and their states lie in every checkpoint.
 */

import type { Group, Split } from '../../core/episode.ts';
import type { Json } from '../../core/json/json.ts';
import type { ScoreRequest, TokenScores } from '../../engine/engine.ts';
import type { World } from '../../env/world.ts';
import type { EvaluationResult } from '../../eval/evaluate.ts';
import type { Renderer } from '../../model/chat/renderer.ts';
import type { Search } from '../../rollout/explore/searched.ts';
import type { Metrics, Spend, StoredEvent } from './events.ts';

/** The learner, as a probe may ask it. */
export interface ProbedLearner {
  readonly world: World;
  /** How tokens are read and written. */
  readonly renderer: Renderer;
  /**
   * Plays tasks once each with the published weights. Defaults: 200 tasks of `test`, at temperature 1. With `search` each task
   * is searched for the episode that counts; a tree is told what the critic of the recipe expects, where it has one.
   */
  evaluate(options?: {
    readonly tasks?: number;
    readonly split?: Split;
    readonly temperature?: number;
    readonly search?: Omit<Search, 'valuesOf'>;
  }): Promise<EvaluationResult>;
  /** Reads rows of token ids: of each token the log-probability under the weights as they are, and whatever else is asked for. */
  score(rows_B: readonly Int32Array[], what?: Partial<ScoreRequest>): Promise<TokenScores>;
}

/** After which step a probe looks. */
export interface ProbeMoment<S extends Json = Json> {
  /** Steps taken. */
  readonly step: number;
  /** No other step follows. */
  readonly last: boolean;
  /** The episodes of the step, with the credit that they were learned with. */
  readonly groups: readonly Group[];
  /** What the run has spent by then; probes are not counted. */
  readonly spent: Spend;
  /** What the last look left; null before the first. */
  readonly state: S | null;
  readonly signal: AbortSignal;
}

/** What a probe has seen. */
export interface Seen<S extends Json = Json> {
  /** Figures by name. */
  readonly metrics?: Metrics;
  /** For the next look, and in every checkpoint. Absent: as before. */
  readonly state?: S;
}

/**
 * Looks at the learner after every so many steps.
 *
 * @example
 * // The log-probability, under the weights of each step, of tokens that the first step sampled.
 * const drift: Probe<number[][]> = {
 *   name: 'drift',
 *   every: 5,
 *   run: async (learner, { state, groups }) => {
 *     const kept = state ?? groups.flatMap((group) => samplesOf(group, 'learner')).slice(0, 20).map(({ ids_T }) => [...ids_T]);
 *     const { logprobs } = await learner.score(kept.map((ids) => Int32Array.from(ids)));
 *     const all = logprobs.flatMap((row) => [...row]);
 *     return { state: kept, metrics: { logprob: all.reduce((sum, logprob) => sum + logprob, 0) / all.length } };
 *   },
 * };
 * await train({ world: 'frozen-lake', probes: [drift] }); // drift/logprob in the events of steps
 */
export interface Probe<S extends Json = Json> {
  readonly name: string;
  /** Steps from one look to the next. Default: 1. */
  readonly every?: number;
  run(learner: ProbedLearner, at: ProbeMoment<S>): Promise<Seen<S>> | Seen<S>;
}

/** A probe of the run itself: its figures have paths of their own, and it may have something to tell besides. */
export interface OwnProbe<S extends Json = Json> extends Omit<Probe<S>, 'run'> {
  run(
    learner: ProbedLearner,
    at: ProbeMoment<S>,
  ): Promise<Seen<S> & { readonly events?: readonly StoredEvent[] }>;
}
