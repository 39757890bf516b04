/** How far a run has come: what a checkpoint keeps, besides weights. */

import type { Json } from '../../core/json/json.ts';
import type { AskedAhead } from '../batches/batches.ts';
import type { Evaluations } from './events.ts';
import type { Memory } from './learn-step.ts';
import type { StageProgress } from './stage-progress.ts';

/** What must survive a crash, besides the engine's weights. Plain JSON. */
export interface TrainState {
  /** Steps taken. */
  readonly step: number;
  readonly memory: Memory;
  /** Of stages that end by what is measured; absent where none does. */
  readonly stages?: StageProgress;
  /** Of the probes, by their names. */
  readonly probes: Readonly<Record<string, Json>>;
  /** Episodes under way, of steps that are played ahead: a run that goes on from here plays them again under their keys. */
  readonly underWay: number;
  /** Which groups these are, where they are learned from as they end; absent where each step learns from its own. */
  readonly ahead?: readonly AskedAhead[];
  /** What evaluations, and whoever plays the checkpoint, have the policy read: the best prompt. */
  readonly instruction: string;
  readonly before: Evaluations | null;
  readonly tokens: {
    readonly sampled: number;
    readonly trained: number;
    readonly forward: number;
    readonly scored: number;
  };
  readonly episodes: number;
  readonly turns: number;
}

export const initialState: TrainState = {
  step: 0,
  memory: { credit: {}, recipe: null, tasks: null, turns: null, curation: {}, prompts: null },
  probes: {},
  underWay: 0,
  instruction: '',
  before: null,
  tokens: { sampled: 0, trained: 0, forward: 0, scored: 0 },
  episodes: 0,
  turns: 0,
};
