/** A checkpoint of a run: its model alone, for export, or as a policy that can play. */

import { unwatched } from '../rollout/watch.ts';
import type { SpendMeter } from '../server/gateway/spend.ts';
import { RunDirectory } from '../store/run-directory.ts';
import { type TrainConfig, trainConfigSchema } from '../train/config/config.ts';
import { catalogueWith, OWN } from '../train/config/own-definitions.ts';
import { endsInLog, type StageEnds } from '../train/config/stages.ts';
import { Archive } from '../train/kit/archive.ts';
import { createLearner, type Learner } from '../train/kit/learner.ts';
import { defineRecipe } from '../train/recipes/recipe.ts';
import { type WorldRequest, worldOfRun } from './load/run-world.ts';
import { openAgentRun } from './model/agent-run.ts';
import { askElsewhere } from './model/ask-model.ts';
import { languageOf } from './model/policy-language.ts';
import { type ModelRequest, type OpenedEngine, openModel } from './open-model.ts';
import { type OpenSeats, openSeats } from './players/open-seats.ts';
import { catalogueOf } from './settings/run-definitions.ts';
import { readRunFile, recipeOfRun } from './settings/run-recipe.ts';
import { version } from './version.ts';

/** A policy with the engine that holds it; it is to be closed. */
export type OpenedCheckpoint = Learner & {
  readonly engine: OpenedEngine;
  /** Steps that it had learned. */
  readonly checkpointStep: number;
  /** The last steps of the stages of its run that have ended, before this checkpoint or later. */
  readonly stageEnds: StageEnds;
  /** Ends the engine, and for an agent what it plays through. */
  close(): Promise<void>;
};

export interface CheckpointRequest extends ModelRequest, WorldRequest {
  readonly spend?: SpendMeter;
  /** Whether it has the turn control of the training, which goes on with episodes of it. */
  readonly turns?: boolean;
  /** Players beside those that sit somewhere, by name, as the setting `players` has them: whoever plays may seat them. */
  readonly players?: Readonly<Record<string, string>>;
}

/** A policy that a checkpoint holds, ready to play. */
export async function openCheckpoint(request: CheckpointRequest): Promise<OpenedCheckpoint> {
  const run = RunDirectory.openForReading({ root: request.root, name: request.name, version });
  const file = readRunFile(run);
  const stageEnds = endsInLog(file.config.stages, run.events.read());
  const world = await worldOfRun(request, file);
  const config = asPlayed(file.config, request);
  // Whoever plays asks for no credit and no loss.
  const { context, turns } = config;
  const named = await catalogueOf({ context, turns }, request.definitions, request.name);
  const brings = [context, turns].some(({ name }) => name.startsWith(OWN));
  const owner = brings ? await recipeOfRun(request.name, file, request.definitions) : undefined;
  const catalogue = catalogueWith(owner, named);
  const { engine, card, open, folder, step, instruction } = await openModel(request);
  let agentRun: Awaited<ReturnType<typeof openAgentRun>> | undefined;
  let seats: OpenSeats | undefined;
  const close = async (): Promise<void> => {
    await Promise.all([agentRun?.close(), seats?.close(), engine.close()]);
  };
  try {
    agentRun = world.agent && (await openAgentRun(world.agent, request.spend));
    const language = await languageOf(card, config, world, agentRun);
    const place = { root: request.root, folder: run.path, source: file.world, signal: request.signal };
    // What plays asks no recipe, which may be out of reach.
    const recipe = defineRecipe({ name: file.recipe });
    const from = { folder, optimizer: false };
    const others = { config, recipe, world, card, engine, open, from, unseated: 'opened' } as const;
    const { spend } = request;
    seats = await openSeats({ ...place, ...language, ...others, ...(spend && { spend }) });
    await seats?.before(0);
    const learner = createLearner({
      config,
      recipe,
      catalogue,
      world,
      card,
      engine,
      watch: unwatched,
      archive: new Archive(async () => []),
      askModel: askElsewhere(request.spend),
      ...language,
      ...(seats && { seats }),
    });
    learner.instruction.text = instruction;
    return { ...learner, engine, checkpointStep: step, stageEnds, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Whoever plays asks for no tasks, curations, prompts and, mostly, turns of a training, whose code may be out of reach; nor, unless
 * it names them, for players that only a source of tasks seats.
 */
function asPlayed(
  config: TrainConfig,
  { turns: keepsTurns = config.evaluation.turnControl, players: more = {} }: CheckpointRequest,
): TrainConfig {
  const { tasks, turns, curation, prompts } = trainConfigSchema.parse({});
  const seated = Object.entries(config.players).filter(([name]) =>
    Object.values(config.seats).includes(name),
  );
  const players = { ...Object.fromEntries(seated), ...more };
  return { ...config, tasks, ...(!keepsTurns && { turns }), curation, prompts, players };
}
