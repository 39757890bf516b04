/** A learner with an engine and a recipe, and without a world or a run: what updates on given episodes need. */

import type { Episode } from '../core/episode.ts';
import { madeGroup } from '../core/testing/made-episodes.ts';
import type { RoleGroup } from '../core/trajectory.ts';
import { composeCredit } from '../credit/shaping/shapings.ts';
import type { Engine } from '../engine/engine.ts';
import { builtIns, openCurations, openPrompts, openTasks, openTurns } from './config/catalogue.ts';
import { type TrainSettings, trainConfigSchema } from './config/config.ts';
import { mergeSettings } from './config/merge.ts';
import { Archive } from './kit/archive.ts';
import type { Learner, Teacher } from './kit/learner.ts';
import { initialMemory, learnStep, type Memory, type Update } from './loop/learn-step.ts';
import { findRecipe } from './recipes/recipes.ts';

interface Room {
  readonly maxTurns?: number;
  readonly maxTurnTokens?: number;
  /** Episodes that the run has stored. */
  readonly stored?: readonly Episode[];
}

export function learnerOn(
  engine: Engine,
  name: string,
  settings: TrainSettings = {},
  { maxTurns = 1, maxTurnTokens = 6, stored = [] }: Room = {},
): Learner {
  const recipe = findRecipe(name);
  // Another method has other options.
  const own = settings.credit?.method ? { ...recipe.settings, credit: {} } : recipe.settings;
  const config = trainConfigSchema.parse(mergeSettings(own, settings));
  const { method, rewardScale: _, shape, ...options } = config.credit;
  const { credit } = composeCredit({ method, options, shape });
  const archive = new Archive(async () => []);
  if (stored.length > 0) archive.add([madeGroup(...stored)]);
  const room = { world: { maxTurns }, renderer: { maxTurnTokens } };
  const curations = openCurations(config.curation);
  const chosen = {
    ...{ tasks: openTasks(config.tasks), turns: openTurns(config.turns), curations },
    prompts: openPrompts(config.prompts),
  };
  // Whoever learns from a teacher has one that finds all tokens alike.
  const teacher: Teacher = {
    score: async ({ rows }) => ({
      logprobs: rows.map(({ ids_T }) => new Float32Array(ids_T.length).fill(-2)),
    }),
  };
  const parts = { catalogue: builtIns, config, engine, recipe, credit, archive, teacher, ...chosen, ...room };
  return parts as unknown as Learner;
}

/** One step of learning, by default the first of a run. */
export function learnOnce(
  learner: Learner,
  groups: readonly RoleGroup[],
  moment = { step: 0, planned: 1 },
  memory: Memory = initialMemory(learner),
): Promise<Update> {
  return learnStep(learner, groups, moment, memory, new AbortController().signal);
}
