/** What the server answers: shapes that it and the page share. Numbers that JSON has no word for are null. */

import type { Json } from '../core/json/json.ts';
import type { EpisodeLabel } from '../store/rollouts/episode-line.ts';
import type { Annotation } from './annotation.ts';
import type { History } from './history.ts';
import type { RunState } from './state.ts';

export type * from './episode-shapes.ts';

/** What was wrong, as the command line says it. */
export interface Problem {
  readonly code: string;
  readonly message: string;
}

/** A row of the list of runs. */
export interface RunRow {
  readonly name: string;
  readonly state: RunState;
  readonly problem?: Problem;
  readonly world: string;
  readonly recipe: string;
  readonly seed?: number;
  readonly history: History;
  readonly secondsPerStep?: number;
  /** Success in training, at most 96 points from the first to the last step. */
  readonly training: readonly (number | null)[];
  /** Settings by dotted key. */
  readonly settings: Readonly<Record<string, Json>>;
}

export interface RunList {
  readonly root: string;
  /** The command that makes a first run. */
  readonly begin: string;
  readonly runs: readonly RunRow[];
}

/** A run, without its curves and episodes. */
export interface RunOverview {
  readonly name: string;
  readonly state: RunState;
  readonly world: string;
  readonly recipe: string;
  /** The command that goes on with it. */
  readonly resume: string;
  readonly history: History;
  /** Of the log: where live events go on. */
  readonly offset: number;
  /** Lines of the log that are no events. */
  readonly damaged: number;
  readonly metrics: readonly string[];
  readonly latest: Readonly<Record<string, number | null>>;
  /** Episodes that failed, by origin. */
  readonly failed: Readonly<Record<string, number>>;
  /** Training steps whose episodes are stored, and evaluations. */
  readonly stored: readonly number[];
  readonly evaluated: readonly number[];
  readonly episodes: number;
  readonly checkpoints: readonly number[];
  /** Episodes that somebody judged. */
  readonly annotations: number;
}

export interface Setting {
  readonly key: string;
  readonly value: Json;
  /** Absent where it is not known, as of an environment in somebody's file. */
  readonly usual?: Json;
  readonly differs: boolean;
}

export interface MemberRow {
  readonly group: number;
  readonly member: number;
  readonly role: number;
  readonly label: EpisodeLabel;
  readonly stop: string;
  readonly success: boolean;
  readonly failed: boolean;
  readonly branched: boolean;
  readonly turns: number;
  readonly tokens: number;
  readonly return: number | null;
  readonly seconds: number;
  readonly surprise: number | null;
  readonly advantage: number | null;
}

/** A test task, for one of its roles, in an evaluation. */
export interface EvaluatedRow {
  /** Its index, or the hash of its JSON. */
  readonly task: number | string;
  readonly role: string;
  /** That holds its episode. */
  readonly group: number;
}

/** Test tasks over the evaluations of a run. */
export interface EvaluationGrid {
  /** Steps after which it was evaluated. */
  readonly evaluations: readonly number[];
  readonly rows: readonly EvaluatedRow[];
  /** Of these, those that are told, with a character for each row: 1 succeeded, 0 failed, - not played. */
  readonly shown: readonly { readonly step: number; readonly sampled: string; readonly greedy: string }[];
}

/** What an annotation becomes when a dataset is written. */
export type JudgementUse = 'conversation' | 'pair' | 'test' | 'note' | 'no-pair' | 'gone';

export interface JudgedRow {
  readonly annotation: Annotation;
  readonly use: JudgementUse;
  /** Rows of the dataset. */
  readonly rows: number;
  /** What the task asks. */
  readonly task: Json;
}

/** What was said of the episodes of a run, and what can be learned from it. */
export interface JudgedRun {
  readonly judgements: readonly JudgedRow[];
  readonly rows: number;
  readonly pairs: number;
  /** The commands that write the dataset and learn from it. */
  readonly commands: readonly string[];
}

/** The episodes of one step or evaluation, from the index. */
export interface StepEpisodes {
  readonly place: string;
  readonly members: readonly MemberRow[];
}

export interface OptionField {
  readonly key: string;
  readonly kind: string;
  readonly type: string;
  readonly default?: Json;
  readonly choices?: readonly string[];
  readonly description: string;
}

export interface MethodRow {
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  readonly formula: string;
  readonly source: string;
  readonly options: readonly OptionField[];
  /** Why it cannot be computed for these episodes. */
  readonly problem?: string;
}

export interface CreditRequest {
  readonly run: string;
  readonly place: string;
  readonly group: number;
  /** Absent: as the run computed it. */
  readonly method?: string;
  readonly options?: Readonly<Record<string, Json>>;
}

export interface CreditAnswer {
  readonly method: string;
  readonly options: Readonly<Record<string, Json>>;
  /** How many groups the method saw together. */
  readonly groups: number;
  /** By member and role. */
  readonly members: readonly {
    readonly member: number;
    readonly role: string;
    readonly turns: readonly { readonly advantage: number; readonly tokens?: readonly number[] }[];
  }[];
}
