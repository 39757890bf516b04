/** What an environment may know about a turn that credit can use. Checked where it is said (env/facts.ts). */

import type { Json } from './json/json.ts';

export interface CallFact {
  readonly name: string;
  readonly arguments: Readonly<Record<string, Json>>;
}

/** Facts of one turn. */
export interface TurnFacts {
  /** Intermediate rewards that are not part of the outcome, the most important first. */
  readonly dense?: readonly number[];
  /** Probability of the true answer given what the policy had seen before the turn. */
  readonly answerProbability?: number;
  readonly informationGain?: number;
  readonly calls?: readonly CallFact[];
  /** Share of the outcome that an estimator attributes to the turn. */
  readonly progress?: number;
  /** Features of the turn for the estimator of progress. */
  readonly features?: readonly number[];
  readonly answer?: string;
  readonly correct?: boolean;
  readonly actionCount?: number;
  readonly effectiveActions?: number;
  readonly labelCorrect?: boolean;
  /** Which response to the task the turn is a part of, from 0; absent where each turn is a response. */
  readonly response?: number;
  readonly wellFormed?: boolean;
  /** Outcome of a continuation from the same state in which this turn was replaced. */
  readonly counterfactual?: number;
  /** Of each sampled token: its log-probability when it was sampled, minus that of a teacher. */
  readonly teacherGaps?: readonly number[];
}

/** Facts of the whole trajectory; they may be said at any turn, and the last counts. */
export interface TrajectoryFacts {
  readonly game?: string;
  readonly entityShare?: number;
  readonly goldenCalls?: readonly CallFact[];
  readonly neededCalls?: number;
  readonly mode?: string;
}

export type Facts = TurnFacts & TrajectoryFacts;
