/** What holds weights: samples, scores, takes gradients, steps, saves. Four verbs, after hosted training services. */

import type { AllowedIds } from '../core/choices.ts';
import type { TopTokens } from '../core/episode.ts';
import type { Weights } from '../model/checkpoint/safetensors.ts';
import type { Objective, ParameterGroup, TokenTargets } from '../objective/contract/objective.ts';
import type { Sampler } from '../policy/sampler.ts';

export type { SampleRequest, SampleResult } from '../policy/sampler.ts';

export interface EngineCapabilities {
  /** Vocabulary size of the policy. */
  readonly vocabulary: number;
  /** Longest sequence, in tokens. */
  readonly contextLength: number;
  readonly valueHead: boolean;
  readonly entropies: boolean;
  /** Scores and trains at other temperatures than 1. */
  readonly temperatures: boolean;
  /** Runs any symbolic objective, not only named ones. */
  readonly customObjectives: boolean;
  /** Samples, scores and trains completions that are restricted to choices. */
  readonly choices: boolean;
  /** Holds completions to JSON schemas. */
  readonly schemas: boolean;
  /** The same calls give the same bits. */
  readonly deterministic: boolean;
}

/** What an engine is able to do, whatever model it holds. */
export type EngineAbilities = Pick<
  EngineCapabilities,
  'valueHead' | 'entropies' | 'temperatures' | 'customObjectives' | 'choices' | 'schemas'
>;

/** A sequence of tokens that is read from its beginning. */
export interface BatchRow {
  readonly ids_T: Int32Array;
  /** The row's first tokens, where they are also those of an earlier row: an engine may compute them once. */
  readonly sharedWith?: { readonly row: number; readonly length: number };
}

/** What a pass is over: rows of tokens, and those of the tokens that its loss sees (`batchOf` makes one of rows). */
export interface TokenBatch {
  readonly rows: readonly BatchRow[];
  readonly targets: TokenTargets;
}

/** Rows that are scored (`scoredRows` makes them), and of those with restricted completions what each token was chosen among. */
export interface ScoredRows extends Pick<TokenBatch, 'rows'> {
  /** Aligned with `ids_T`. Log-probabilities and entropies are renormalised over these. */
  readonly allowed_B?: readonly (AllowedIds | undefined)[];
}

/** Per row, aligned with `ids_T`; position 0 is 0. */
export interface TokenScores {
  readonly logprobs: readonly Float32Array[];
  readonly entropies?: readonly Float32Array[];
  /** The k likeliest tokens in the place of each, the likeliest first; those of position 0 are 0. */
  readonly top?: readonly TopTokens[];
  /** Value of the prefix before each token. */
  readonly values?: readonly Float32Array[];
  /** Readings of extra heads: a scalar head's number, an action head's number for the token, the mean over bins. */
  readonly heads?: Readonly<Record<string, readonly Float32Array[]>>;
}

export interface ScoreRequest {
  readonly temperature: number;
  /** Number of the likeliest tokens to tell in the place of each token; all where the vocabulary has fewer. */
  readonly top?: number;
  readonly entropies?: boolean;
  readonly values?: boolean;
  /** Names of extra heads to read. */
  readonly heads?: readonly string[];
  /** Score with the copy kept by `freeze`: a reference policy or target network. */
  readonly frozen?: boolean;
}

/** `value-head` is the head of values, and not the body that it reads. */
export type { ParameterGroup, TokenTargets } from '../objective/contract/objective.ts';

export interface AdamOptions {
  readonly learningRate: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  /** Decoupled (AdamW). Applied to matrices only, not to norms and biases, unless `decayAll`. */
  readonly weightDecay: number;
  /** Norms and biases decay too, as `torch.optim.AdamW` has it unless told otherwise. */
  readonly decayAll?: boolean;
  /** Global-norm clipping of the gradient; 0 is off. */
  readonly clipNorm: number;
  /**
   * The parameters that move, where not all: no gradient, decay or moment of another is touched, and the norm is of these
   * alone. Gradients of the others that were accumulated are forgotten.
   */
  readonly only?: ParameterGroup;
}

export interface ForwardBackwardResult {
  readonly loss: number;
  /** The objective's metrics, summed over the batch. */
  readonly metrics: Readonly<Record<string, number>>;
  /** Tokens that follow another in a row of the batch, and tokens computed: with padding, and shared ones once. */
  readonly tokens: number;
  readonly paddedTokens: number;
}

export interface OptimStepResult {
  /** Before clipping. */
  readonly gradientNorm: number;
  /** False when the gradient was not finite: the weights were left alone. */
  readonly applied: boolean;
}

export interface Engine extends Sampler {
  readonly capabilities: EngineCapabilities;
  score(batch: ScoredRows, options: ScoreRequest): Promise<TokenScores>;
  /** Adds the gradient of the objective over the batch to the accumulated gradient. */
  forwardBackward(
    batch: TokenBatch,
    objective: Objective,
    options: { temperature: number },
  ): Promise<ForwardBackwardResult>;
  /** One optimizer step on the accumulated gradient, which is cleared. */
  optimStep(options: AdamOptions): Promise<OptimStepResult>;
  /**
   * Forget the optimizer's moments, and whatever else only served what was learned so far, where something else is learned
   * from now on. The weights stay as they are.
   */
  restartOptimizer(): Promise<void>;
  /**
   * Keep a copy of the present weights as the reference policy. With a `rate` below 1 the copy that is kept moves that
   * share of the way to them instead, as target networks do.
   */
  freeze(rate?: number): Promise<void>;
  /** A copy of the weights that are trained, by name; of engines that hold them here. */
  weights?(): Promise<Weights>;
  /**
   * Begin anew with those of these weights that the model has, to be published: heads that are not among them stay as they
   * are, the optimizer has taken no step, and a frozen copy is forgotten.
   */
  adopt?(weights: Weights): Promise<void>;
  /** Write weights and optimizer state (and the frozen copy, if any) as safetensors files into a folder. */
  save(folder: string): Promise<void>;
  /**
   * Read what `save` wrote and publish it, under the version that it was saved with. With `optimizer` false the optimizer
   * starts anew.
   */
  load(folder: string, options?: { readonly optimizer?: boolean }): Promise<void>;
  close(): Promise<void>;
}
