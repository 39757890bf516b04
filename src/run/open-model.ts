/** The weights of a checkpoint, in an engine. */

import { TurnwiseError } from '../core/errors.ts';
import type { EmbeddedEngine } from '../engine/embedded/embedded-engine.ts';
import type { TinkerEngine } from '../engine/tinker/tinker-engine.ts';
import { LEARNER } from '../policy/engine-policy.ts';
import { RunDirectory } from '../store/run-directory.ts';
import type { RunFile } from '../store/run-file.ts';
import type { TrainConfig } from '../train/config/config.ts';
import type { ModelCard } from '../train/model-card.ts';
import { movedTo } from './model/policy-language.ts';
import { type HeldBase, type OpenBase, openEngine, reopenBase } from './model/run-model.ts';
import { type CheckpointState, ownCheckpoint } from './run-checkpoint.ts';
import { playerFolder } from './run-folders.ts';
import { readRunFile } from './settings/run-recipe.ts';
import { version } from './version.ts';

export type OpenedEngine = EmbeddedEngine | TinkerEngine;

export interface ModelRequest {
  readonly root: string;
  readonly name: string;
  /** Default: the last. */
  readonly step?: number;
  /** Which of several learners; default: the first. */
  readonly player?: string;
  readonly signal: AbortSignal;
  /** Tokens for which there must be room, though the run itself had less. */
  readonly contextLength?: number;
  /** Whose frozen weights it may share. */
  readonly held?: HeldBase;
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
  /** The best prompt at the checkpoint; '' is none. */
  readonly instruction: string;
}

/** The model of a checkpoint. The world that it was trained in is not looked for. */
export async function openModel(request: ModelRequest): Promise<OpenedModel> {
  const run = RunDirectory.openForReading({ root: request.root, name: request.name, version });
  const file = readRunFile(run);
  const { player = LEARNER } = request;
  requireLearner(player, request.name, file.config);
  const checkpoint = await ownCheckpoint(run, request.step);
  const folder = player === LEARNER ? checkpoint.folder : playerFolder(checkpoint.folder, player);
  const { card: kept, state } = checkpoint.state as unknown as CheckpointState;
  const card = withRoomFor(request.contextLength, kept);
  const open = await reopenBase(card, request);
  const engine = await openEngine(card, file.config, open, undefined, request.held);
  try {
    await engine.load(folder);
    const { step, instruction = '' } = state;
    return { file, card: movedTo(card, open), engine, open, folder, step, instruction };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** Weights know nothing of the length of a context. */
function withRoomFor(contextLength: number | undefined, card: ModelCard): ModelCard {
  if (contextLength === undefined || contextLength <= card.shape.contextLength) return card;
  return { ...card, shape: { ...card.shape, contextLength } };
}

/** @throws TurnwiseError `config-invalid` where no learner of the run is called so */
function requireLearner(player: string, run: string, { players }: TrainConfig): void {
  const others = Object.keys(players).filter((name) => players[name] === LEARNER);
  if (player === LEARNER || others.includes(player)) return;
  throw new TurnwiseError('config-invalid', {
    what: `Run "${run}" has no learner "${player}"`,
    seen: player in players ? `${player}=${String(players[player])}` : player,
    allowed: [LEARNER, ...others].join(', '),
    fields: { run, player },
  });
}
