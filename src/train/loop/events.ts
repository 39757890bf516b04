/** What a run reports while it runs. Stored events are the run's history; `progress` is only for whoever watches. */

import type { Json } from '../../core/json/json.ts';
import type { TestTasks } from '../../env/tasks/practised.ts';
import type { Unrepeatable } from '../../env/world.ts';
import type { EvaluationResult } from '../../eval/evaluate.ts';

export type { EvaluationResult } from '../../eval/evaluate.ts';

/** Metric paths (docs/metrics.md) to numbers. Anything under time/, speed/ and loop/ may differ between two equal runs. */
export type Metrics = Readonly<Record<string, number>>;

/** What a run has spent on learning so far; evaluations are not counted. */
export interface Spend {
  /** Episodes played, those that failed or were left out among them. */
  readonly episodes: number;
  /** Steps of environments, in branches and twins too. */
  readonly turns: number;
  /** Tokens sampled, read as prompts, scored and trained on. */
  readonly tokens: number;
  /** Spent acting and learning. */
  readonly seconds: number;
}

export type Phase = 'demonstrate' | 'clone' | 'evaluate' | 'train' | 'finish';

/** At temperature 1, and greedily unless `evaluation.greedy` is off. */
export interface Evaluations {
  readonly sampled: EvaluationResult;
  readonly greedy?: EvaluationResult;
}

export interface RunSummary {
  readonly before: Evaluations;
  readonly after: Evaluations;
  readonly steps: number;
  /** Tokens sampled by the policy, trained on, read and sampled, and scored. */
  readonly tokens: {
    readonly sampled: number;
    readonly trained: number;
    readonly forward: number;
    readonly scored: number;
  };
  readonly episodes: number;
  readonly turns: number;
  /** Seconds by phase; of this process only when the run was resumed. */
  readonly seconds: Readonly<Record<'clone' | 'rollout' | 'train' | 'evaluate' | 'total', number>>;
}

/** Of a run with a pretrained model, before its first phase. */
export interface EstimateEvent {
  readonly type: 'estimate';
  /** Of one step, in parts and together; of an evaluated episode, of imitation, of all evaluations, and of the run. */
  readonly seconds: Readonly<
    Record<
      'reading' | 'sampling' | 'learning' | 'step' | 'episode' | 'imitating' | 'evaluating' | 'total',
      number
    >
  > & {
    /** Of an episode before imitation: the model knows no end yet, and writes and plays to the limits. */
    readonly unpractised?: number;
  };
  /** In bytes: at its peak, and free on this machine. */
  readonly memory: { readonly needed: number; readonly free: number };
  /** Tasks of the evaluations of this run. */
  readonly evaluation: { readonly tasks: number; readonly finalTasks: number };
}

/** After a step: which prompts its groups read, what these earned, and which one evaluations read. */
export interface PromptsEvent {
  readonly type: 'prompts';
  readonly step: number;
  /** Each by the name that it has in this log, with its groups, the mean return and the share of successes. */
  readonly used: readonly {
    readonly prompt: string;
    readonly groups: number;
    readonly return: number;
    readonly success: number;
  }[];
  readonly best: string;
  /** Another one was the best before. */
  readonly changed?: true;
  /** Who answered questions for new prompts in this step, each once, by name. */
  readonly by?: readonly string[];
  /** The texts of names that the log did not explain before; '' is no prompt. */
  readonly texts: Readonly<Record<string, string>>;
}

export type StoredEvent =
  | {
      readonly type: 'start';
      readonly run: string;
      readonly environment: string;
      readonly recipe: string;
      readonly seed: number;
      /** Unknown where a server holds the model. */
      readonly parameters?: number;
      /** Weights of the adapter, where one is trained instead of the model. */
      readonly adapter?: number;
      readonly vocabulary: number;
      /** The pretrained model it starts from. */
      readonly base?: string;
      /** The model and the server that trains it, where it is not this process. */
      readonly server?: string;
      /** Of the model: its shape and words. Checkpoints of another identity do not belong to this run. */
      readonly identity: string;
      readonly version: string;
      /** Whether the tasks of its evaluations are kept from training. */
      readonly testTasks?: TestTasks;
      /** The most that the policy may write in one turn. */
      readonly turnTokens?: number;
      /** What computes, with its version, where this process holds the weights. */
      readonly runtime?: string;
      /** Why its episodes cannot be gone on with from a turn. Absent where they can. */
      readonly unrepeatable?: Unrepeatable;
    }
  | EstimateEvent
  | {
      /** Recorded episodes that the run begins with. */
      readonly type: 'data';
      /** A file, or a run. */
      readonly source: string;
      /** Those that can be learned from. */
      readonly episodes: number;
      /** Of them, those that succeeded, as far as anybody said. */
      readonly successful: number;
      /** Of them, those whose recorded token ids are used as they are. */
      readonly exact: number;
      /** Of them, those that were longer than the context and are cut at a turn. */
      readonly cut: number;
      /** Those that are not learned from, by reason. */
      readonly leftOut: Readonly<Record<string, number>>;
    }
  | {
      readonly type: 'phase';
      readonly phase: Phase;
      readonly steps?: number;
      /** The weights stay as they are: only prompts learn. */
      readonly still?: true;
    }
  | PromptsEvent
  | { readonly type: 'clone'; readonly step: number; readonly steps: number; readonly metrics: Metrics }
  | {
      readonly type: 'step';
      readonly step: number;
      readonly steps: number;
      readonly metrics: Metrics;
      readonly spent: Spend;
    }
  | {
      readonly type: 'evaluation';
      readonly step: number;
      readonly label: 'before' | 'during' | 'after';
      readonly sampled: EvaluationResult;
      readonly greedy?: EvaluationResult;
      readonly spent: Spend;
    }
  | {
      readonly type: 'resume';
      readonly step: number;
      /** Episodes that were under way at its checkpoint: they are played again under their keys. */
      readonly dropped?: number;
      readonly runtime?: string;
    }
  | {
      /** Begins with this step: the settings that it has over those of the run; none after the last stage. */
      readonly type: 'stage';
      readonly step: number;
      /** From 1. */
      readonly stage: number;
      readonly set: Readonly<Record<string, Json>>;
    }
  | {
      readonly type: 'warning';
      readonly code: string;
      readonly message: string;
      /** The figures behind it, where programs may want them. */
      readonly facts?: Readonly<Record<string, Json>>;
    }
  | { readonly type: 'finish'; readonly summary: RunSummary };

/** Which evaluation is played: `check` is one of those that imitation takes. */
export type EvaluationMoment = 'before' | 'during' | 'after' | 'check';

export interface ProgressEvent {
  readonly type: 'progress';
  readonly phase: Phase;
  readonly moment?: EvaluationMoment;
  /** In the second half of an evaluation, which plays the likeliest tokens. */
  readonly greedy?: boolean;
  /** Read, sampled, scored and trained by this process so far. */
  readonly tokens?: number;
  readonly done: number;
  readonly total: number;
  readonly waitingFor?: string;
}

export type RunEvent = StoredEvent | ProgressEvent;
