/** What a recipe learns with: the weights of one player, the credit of its episodes, and the episodes that are kept. */

import type { Call } from '../../core/episode.ts';
import type { Json } from '../../core/json/json.ts';
import type { Rng } from '../../core/rng.ts';
import type { RoleGroup, Trajectory } from '../../core/trajectory.ts';
import type { SampleResult, ScoreRequest, TokenBatch, TokenScores } from '../../engine/engine.ts';
import type { TokenRow } from '../../engine/token-batch.ts';
import type { ActionProtocol } from '../../env/protocol.ts';
import type { Renderer } from '../../model/chat/renderer.ts';
import type { Objective, StepStructure } from '../../objective/contract/objective.ts';
import type { Metrics } from '../loop/events.ts';
import type { Replayed } from './archive.ts';
import type { CreditedSample } from './batch.ts';
import type { CreditedGroups } from './credit-groups.ts';
import type { Kept } from './learn.ts';

/** The batch of one optimizer step (`batchOf` makes it of rows), and how its rows belong together. */
export type Lesson = TokenBatch & StepStructure;

/** Token ids, with what they were chosen among where that is known. */
export type ReadRow = Int32Array | Pick<TokenRow, 'ids_T' | 'allowed_T'>;

/** Weights that learn: those of the policy, or of a critic in a model of its own. */
export interface TrainedModel {
  /**
   * Reads rows of token ids, or samples and rows of a lesson, whose restricted tokens are normalised over what they were chosen
   * among; at the sampling temperature unless another is said; `frozen` reads the copy that is kept.
   */
  score(rows_B: readonly ReadRow[], what?: Partial<ScoreRequest>): Promise<TokenScores>;
  /** One optimizer step. Its figures are averaged over those of the step. */
  learn(lesson: Lesson, objective: Objective): Promise<void>;
  /** Keeps the present weights as the frozen copy, or moves that copy this share of the way to them. */
  keep(rate?: number): Promise<void>;
  /** Means over the optimizer steps so far. */
  figures(): Metrics;
}

/** A prompt to be completed, and what names its completion: the same name gives the same random numbers. */
export interface Prompt {
  readonly ids_T: Int32Array;
  readonly name: string;
  /** Token sequences to one of which its completion is restricted. */
  readonly choices?: Call['choices'];
}

export interface Trainer {
  readonly policy: TrainedModel;
  /** A model of its own, where the recipe has `criticHeads`. */
  readonly critic?: TrainedModel;
  /**
   * Who is to be learned from: it scores the same tokens with weights of its own, which do not learn.
   *
   * @throws TurnwiseError `teacher-missing` where the settings name none
   */
  teacher(): Pick<TrainedModel, 'score'>;
  /** Whether the policy has a value head. */
  readonly valueHead: boolean;
  /** How tokens are read and written, and how an action is found in what was written. */
  readonly renderer: Renderer;
  readonly protocol: ActionProtocol;
  /** Completions that solve a task, in the wording of the run; none where the environment knows none. */
  truth(task: Json): readonly string[];
  /** Longest sequence of the policy, in tokens. */
  readonly contextLength: number;
  /** The policy loss of the settings with the terms beside it, or the value loss alone. */
  objective(terms?: { readonly valueOnly?: boolean }): Objective;
  /**
   * Advantages, by the credit method of the run: what each turn or token was worth. They are stored with the episodes. Those
   * that curation keeps out of the loss are compared too, though `groups` has none of them; weights are in the samples.
   */
  credit(groups: readonly RoleGroup[]): Promise<CreditedGroups>;
  /** Rows of fresh samples, each token with its share of the loss; none where there is nothing to learn. */
  rows(
    samples: readonly CreditedSample[],
    objective: Objective,
    referenceLogprobs_B?: readonly Float32Array[],
  ): TokenRow[];
  /** Kept episodes, in this order. */
  recall(kept: readonly Kept[]): Promise<Replayed[]>;
  /** What the published policy writes next. */
  complete(prompts: readonly Prompt[]): Promise<SampleResult[]>;
  /** The scripted expert's episode of each group's task, by the group's id. */
  expert(groups: readonly RoleGroup[]): Promise<ReadonlyMap<string, Trajectory>>;
  /** The stream of random numbers of a purpose in this step. */
  rng(purpose: string): Rng;
}
