/** A checkpoint of a run as a policy that can play: for evaluation, for watching, for export. */

import type { EmbeddedEngine } from '../engine/embedded/embedded-engine.ts';
import type { TinkerEngine } from '../engine/tinker/tinker-engine.ts';
import type { WorldFactory } from '../env/factory.ts';
import { unwatched } from '../rollout/watchdog.ts';
import { RunDirectory } from '../store/run-directory.ts';
import { Archive } from '../train/archive.ts';
import { trainConfigSchema } from '../train/config.ts';
import { createLearner, type Learner } from '../train/learner.ts';
import { findRecipe } from '../train/recipes/recipes.ts';
import { openAgentRun } from './model/agent-run.ts';
import { languageOf, movedTo } from './model/policy-language.ts';
import { openEngine, reopenBase } from './model/run-model.ts';
import { type CheckpointState, ownCheckpoint } from './run-checkpoint.ts';
import { version } from './version.ts';

type OpenedEngine = EmbeddedEngine | TinkerEngine;

/** A policy with the engine that holds it; it is to be closed. */
export type OpenedCheckpoint = Learner & {
  readonly engine: OpenedEngine;
  /** Ends the engine, and for an agent what it plays through. */
  close(): Promise<void>;
};

/** A policy that a checkpoint holds, ready to play. */
export async function openCheckpoint(request: {
  readonly root: string;
  readonly name: string;
  /** Default: the last. */
  readonly step?: number;
  readonly findFactory: (name: string) => Promise<WorldFactory>;
  readonly signal: AbortSignal;
}): Promise<OpenedCheckpoint> {
  const run = RunDirectory.openForReading({ root: request.root, name: request.name, version });
  const { config, ...file } = run.readConfig(trainConfigSchema);
  const factory = await request.findFactory(file.environment);
  const checkpoint = await ownCheckpoint(run, request.step);
  const { card } = checkpoint.state as unknown as CheckpointState;
  const world = factory.create(factory.options.parse(config.environment));
  const open = await reopenBase(card, request);
  const agentRun = world.agent && (await openAgentRun(world.agent));
  let engine: OpenedEngine | undefined;
  const close = async (): Promise<void> => {
    await Promise.all([agentRun?.close(), engine?.close()]);
  };
  try {
    const language = await languageOf(movedTo(card, open), config, world, agentRun);
    const opened = await openEngine(card, config, open);
    engine = opened;
    await opened.load(checkpoint.folder);
    const recipe = findRecipe(file.recipe);
    const learner = createLearner({
      config,
      recipe,
      world,
      card,
      engine: opened,
      watch: unwatched,
      archive: new Archive(async () => []),
      ...language,
    });
    return { ...learner, engine: opened, close };
  } catch (error) {
    await close();
    throw error;
  }
}
