/** A checkpoint of a run: its model alone, for export, or as a policy that can play. */

import type { EmbeddedEngine } from '../engine/embedded/embedded-engine.ts';
import type { TinkerEngine } from '../engine/tinker/tinker-engine.ts';
import { unwatched } from '../rollout/watch.ts';
import { RunDirectory } from '../store/run-directory.ts';
import type { RunFile } from '../store/run-file.ts';
import type { TrainConfig } from '../train/config/config.ts';
import { Archive } from '../train/kit/archive.ts';
import { createLearner, type Learner } from '../train/kit/learner.ts';
import type { ModelCard } from '../train/model-card.ts';
import { defineRecipe } from '../train/recipes/recipe.ts';
import { type WorldRequest, worldOfRun } from './load/run-world.ts';
import { openAgentRun } from './model/agent-run.ts';
import { languageOf, movedTo } from './model/policy-language.ts';
import { openEngine, reopenBase } from './model/run-model.ts';
import { type CheckpointState, ownCheckpoint } from './run-checkpoint.ts';
import { catalogueOf } from './settings/run-definitions.ts';
import { readRunFile } from './settings/run-recipe.ts';
import { version } from './version.ts';

type OpenedEngine = EmbeddedEngine | TinkerEngine;

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
}

/** A policy with the engine that holds it; it is to be closed. */
export type OpenedCheckpoint = Learner & {
  readonly engine: OpenedEngine;
  /** Ends the engine, and for an agent what it plays through. */
  close(): Promise<void>;
};

/** The model of a checkpoint. The world that it was trained in is not looked for. */
export async function openModel(request: ModelRequest): Promise<OpenedModel> {
  const run = RunDirectory.openForReading({ root: request.root, name: request.name, version });
  const file = readRunFile(run);
  const checkpoint = await ownCheckpoint(run, request.step);
  const { card } = checkpoint.state as unknown as CheckpointState;
  const open = await reopenBase(card, request);
  const engine = await openEngine(card, file.config, open);
  try {
    await engine.load(checkpoint.folder);
    return { file, card: movedTo(card, open), engine };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** A policy that a checkpoint holds, ready to play. */
export async function openCheckpoint(request: ModelRequest & WorldRequest): Promise<OpenedCheckpoint> {
  const run = RunDirectory.openForReading({ root: request.root, name: request.name, version });
  const file = readRunFile(run);
  const world = await worldOfRun(request, file);
  // Whoever plays asks for no credit and no loss.
  const { context } = file.config;
  const catalogue = await catalogueOf({ context }, request.definitions, request.name);
  const { engine, card } = await openModel(request);
  const { config } = file;
  let agentRun: Awaited<ReturnType<typeof openAgentRun>> | undefined;
  const close = async (): Promise<void> => {
    await Promise.all([agentRun?.close(), engine.close()]);
  };
  try {
    agentRun = world.agent && (await openAgentRun(world.agent));
    const language = await languageOf(card, config, world, agentRun);
    const learner = createLearner({
      config,
      // What plays asks no recipe, which may be out of reach.
      recipe: defineRecipe({ name: file.recipe }),
      catalogue,
      world,
      card,
      engine,
      watch: unwatched,
      archive: new Archive(async () => []),
      ...language,
    });
    return { ...learner, engine, close };
  } catch (error) {
    await close();
    throw error;
  }
}
