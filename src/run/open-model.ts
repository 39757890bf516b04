/** The weights of a checkpoint, in an engine. */

import type { EmbeddedEngine } from '../engine/embedded/embedded-engine.ts';
import type { TinkerEngine } from '../engine/tinker/tinker-engine.ts';
import { RunDirectory } from '../store/run-directory.ts';
import type { RunFile } from '../store/run-file.ts';
import type { TrainConfig } from '../train/config/config.ts';
import type { ModelCard } from '../train/model-card.ts';
import { movedTo } from './model/policy-language.ts';
import { type OpenBase, openEngine, reopenBase } from './model/run-model.ts';
import { type CheckpointState, ownCheckpoint } from './run-checkpoint.ts';
import { readRunFile } from './settings/run-recipe.ts';
import { version } from './version.ts';

export type OpenedEngine = EmbeddedEngine | TinkerEngine;

export interface ModelRequest {
  readonly root: string;
  readonly name: string;
  /** Default: the last. */
  readonly step?: number;
  readonly signal: AbortSignal;
}

/** The weights of a checkpoint; the engine is to be closed. */
export interface OpenedModel {
  readonly file: RunFile<TrainConfig>;
  readonly card: ModelCard;
  readonly engine: OpenedEngine;
  readonly open: OpenBase | undefined;
  /** Of the checkpoint. */
  readonly folder: string;
  readonly step: number;
}

/** The model of a checkpoint. The world that it was trained in is not looked for. */
export async function openModel(request: ModelRequest): Promise<OpenedModel> {
  const run = RunDirectory.openForReading({ root: request.root, name: request.name, version });
  const file = readRunFile(run);
  const checkpoint = await ownCheckpoint(run, request.step);
  const { card, state } = checkpoint.state as unknown as CheckpointState;
  const open = await reopenBase(card, request);
  const engine = await openEngine(card, file.config, open);
  try {
    await engine.load(checkpoint.folder);
    return { file, card: movedTo(card, open), engine, open, folder: checkpoint.folder, step: state.step };
  } catch (error) {
    await engine.close();
    throw error;
  }
}
