/** A comparison as a list of ordinary `turnwise train` commands: one warm start for each seed, then each recipe from it. */

import { join } from 'node:path';
import { differences } from '../../core/differences.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { WorldFactory } from '../../env/factory.ts';
import { sourceOf, type WorldSource } from '../../run/load/world-source.ts';
import { type PreparedRun, prepareRun } from '../../run/prepare-run.ts';
import { readOf, readSettings } from '../../run/settings/run-settings.ts';
import { builtIns, type Catalogue } from '../../train/catalogue.ts';
import type { TrainConfig } from '../../train/config.ts';
import type { Recipe } from '../../train/recipes/recipe.ts';
import type { Budget } from './budget-text.ts';

/** One process: the warm start of a seed, or a run that begins with it. */
export interface Job {
  /** Name of its run. */
  readonly name: string;
  readonly kind: 'start' | 'run';
  readonly recipe: string;
  readonly seed: number;
  /** What follows `turnwise`, `--json` aside. */
  readonly words: readonly string[];
  readonly config: TrainConfig;
  /** The job that must be finished first. */
  readonly after?: string;
}

export interface Plan {
  readonly name: string;
  /** Folder of the comparison: what `--runs` of its runs is. */
  readonly folder: string;
  readonly environment: string;
  readonly source: WorldSource;
  readonly recipes: readonly Recipe[];
  readonly seeds: number;
  /** Seed by seed, so that complete pairs come first. */
  readonly jobs: readonly Job[];
}

export interface PlanRequest {
  readonly factory: WorldFactory;
  readonly recipes: readonly Recipe[];
  readonly seeds: number;
  readonly budget: Budget | undefined;
  /** `key=value` for all runs. */
  readonly set: readonly string[];
  /** Where the names in `set` are looked up. */
  readonly catalogue?: Catalogue;
  readonly name: string | undefined;
  /** Folder of all runs. */
  readonly root: string;
}

/** More steps than anybody waits for, where tokens or minutes end a run. */
const unlimitedSteps = 1_000_000;

/**
 * Resolve and check everything before anything runs.
 *
 * @throws TurnwiseError `comparison-setting`, `comparison-start`, `recipe-unfit`, `config-unknown-key`, `config-invalid`
 */
export function planComparison(request: PlanRequest): Plan {
  const { factory, recipes, seeds, set, root, catalogue = builtIns } = request;
  refuseOwnKeys(set);
  const source = sourceOf(factory);
  const name = request.name ?? defaultName(factory.name, recipes);
  const folder = join(root, name);
  const prepared = recipes.map((recipe) => prepareWith(request, recipe));
  requireSharedStart(prepared.map(({ run }) => run));
  // A critic can begin with weights that were trained without one, not the other way round.
  const starter = prepared.find(({ run }) => !run.recipe.critic) ?? prepared[0]!;
  const job = (
    kind: Job['kind'],
    { assignments, run: { recipe } }: Prepared,
    seed: number,
    own: readonly string[],
  ): Job => {
    const jobName = kind === 'start' ? startName(seed) : `${recipe.name}-${seed}`;
    const all = [...assignments, ...own, `seed=${seed}`];
    const words = ['train', source, '--recipe', recipe.name, '--name', jobName, '--runs', folder];
    return {
      name: jobName,
      kind,
      recipe: recipe.name,
      seed,
      words: [...words, ...all.flatMap((assignment) => ['--set', assignment])],
      config: prepareRun(factory, recipe, readSettings(factory, recipe, all, catalogue), catalogue).config,
    };
  };
  const jobs = Array.from({ length: seeds }, (_, index) => index + 1).flatMap((seed) => [
    job('start', starter, seed, ['steps=0']),
    ...prepared.map((one) => ({
      ...job('run', one, seed, [`start=${startName(seed)}`]),
      after: startName(seed),
    })),
  ]);
  return { name, folder, environment: factory.name, source, recipes, seeds, jobs };
}

/** What decides the results, for the comparison's file: the whole configuration of every recipe, for seed 1. */
export function contentOf({ source, recipes, seeds, jobs }: Plan): JsonObject {
  const configs = recipes.map(({ name }) => {
    const { config } = jobs.find(({ kind, recipe }) => kind === 'run' && recipe === name)!;
    return [name, config as unknown as JsonObject] as const;
  });
  return { environment: source, seeds, recipes: Object.fromEntries(configs) };
}

const startName = (seed: number): string => `start-${seed}`;

interface Prepared {
  readonly run: PreparedRun;
  readonly assignments: readonly string[];
}

/** The comparison's own choices first, so that a person can change them. */
function prepareWith(
  { factory, recipes, budget, set, catalogue = builtIns }: PlanRequest,
  recipe: Recipe,
): Prepared {
  const limits =
    budget === undefined
      ? []
      : budget.unit === 'steps'
        ? [`steps=${budget.amount}`]
        : [`steps=${unlimitedSteps}`, `budget.${budget.unit}=${budget.amount}`];
  const read = (assignments: readonly string[]): string[] => readOf(recipe, recipes, assignments, catalogue);
  const prepare = (assignments: readonly string[]): PreparedRun =>
    prepareRun(factory, recipe, readSettings(factory, recipe, assignments, catalogue), catalogue);
  const { steps } = prepare(read([...limits, ...set])).config;
  // Ten points make a curve; where the number of steps is not known, every fifth step is measured.
  const every = steps === unlimitedSteps ? 5 : Math.max(1, Math.ceil(steps / 10));
  const assignments = read(['threads=1', 'rolloutLog=0', `evaluation.every=${every}`, ...limits, ...set]);
  return { run: prepare(assignments), assignments };
}

function defaultName(environment: string, recipes: readonly Recipe[]): string {
  // An address such as openenv:ws://host:8000 makes no folder name.
  const folder = environment.replaceAll(/[^\w.-]+/g, '-');
  const names = recipes.map(({ name }) => name);
  return names.length <= 4
    ? `${folder}-${names.join('-vs-')}`
    : `${folder}-${names[0]}-vs-${names.length - 1}-others`;
}

function refuseOwnKeys(set: readonly string[]): void {
  for (const key of ['seed', 'start']) {
    if (!set.some((assignment) => assignment.startsWith(`${key}=`))) continue;
    throw new TurnwiseError('comparison-setting', {
      what: `A comparison chooses "${key}" itself: one for each seed`,
      next: key === 'seed' ? 'Use --seeds to say how many' : 'Leave it out',
      fields: { key },
    });
  }
}

/** Recipes that would imitate otherwise cannot begin alike, and then their difference says nothing about the method. */
function requireSharedStart(runs: readonly PreparedRun[]): void {
  const facts = ({
    config: { environment, model, lora, chat, context, clone, rollout, evaluation },
  }: PreparedRun): object => ({
    environment,
    model,
    lora,
    chat,
    context,
    clone,
    rollout: { maxTurns: rollout.maxTurns, exchangeEvery: rollout.exchangeEvery },
    evaluation: { finalTasks: evaluation.finalTasks },
  });
  const first = runs[0]!;
  for (const run of runs) {
    const [other] = differences(facts(first), facts(run));
    if (other === undefined) continue;
    throw new TurnwiseError('comparison-start', {
      what: `The recipes "${first.recipe.name}" and "${run.recipe.name}" cannot share a warm start: they differ in ${other.key}`,
      seen: other.values.map((value) => JSON.stringify(value)).join(' and '),
      next: `Set it for all: --set ${other.key}=${JSON.stringify(other.values[1])}`,
      fields: { key: other.key },
    });
  }
}
