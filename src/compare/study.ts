/** A comparison before anything runs: its arms in its worlds, each with the settings that it has there, checked. */

import { join } from 'node:path';
import { TurnwiseError } from '../core/errors.ts';
import { differences } from '../core/json/differences.ts';
import type { WorldFactory } from '../env/factory.ts';
import { sourceOf, type WorldSource } from '../run/load/world-source.ts';
import { type PreparedRun, prepareRun } from '../run/prepare-run.ts';
import { readOf, readSettings, reads } from '../run/settings/run-settings.ts';
import { builtIns, type Catalogue } from '../train/config/catalogue.ts';
import type { TrainConfig } from '../train/config/config.ts';
import { type Arm, filesOf } from './arm.ts';
import { type Budget, budgetSettings, unlimitedSteps } from './budget.ts';

/** An arm in a world, with the settings that it has there. */
export interface Cell {
  readonly arm: Arm;
  readonly assignments: readonly string[];
  readonly run: PreparedRun;
  readonly files: readonly string[];
}

export interface StudyWorld {
  readonly name: string;
  readonly factory: WorldFactory;
  readonly source: WorldSource;
  /** In the order of the arms. */
  readonly cells: readonly Cell[];
}

export interface Study {
  readonly name: string;
  /** Folder of the comparison: its page and its files. */
  readonly folder: string;
  /** Folder of all runs of all comparisons: what `--runs` of these runs is. */
  readonly store: string;
  readonly worlds: readonly StudyWorld[];
  readonly arms: readonly Arm[];
  readonly budget: Budget | undefined;
}

export interface StudyRequest {
  readonly worlds: readonly WorldFactory[];
  readonly arms: readonly Arm[];
  readonly budget: Budget | undefined;
  /** `key=value` for all runs. */
  readonly set: readonly string[];
  /** Where the names in settings are looked up. */
  readonly catalogue?: Catalogue;
  readonly name: string | undefined;
  /** Folder of all runs. */
  readonly root: string;
}

/** Of runs that are compared: beside the folders of comparisons, in the folder of all runs. */
export const storeName = 'compared';

/**
 * Resolve and check everything before anything runs.
 *
 * @throws TurnwiseError `comparison-setting`, `comparison-start`, `recipe-unfit`, `config-unknown-key`, `config-invalid`
 */
export function prepareStudy(request: StudyRequest): Study {
  const { worlds, arms, budget, set, root } = request;
  for (const { set: own } of [{ set }, ...arms]) refuseOwnKeys(own);
  const name = request.name ?? defaultName(worlds, arms);
  return {
    name,
    folder: join(root, name),
    store: join(root, storeName),
    worlds: worlds.map((factory) => {
      const cells = arms.map((arm) => cellOf(factory, arm, request));
      requireSharedStart(cells);
      return { name: factory.name, factory, source: sourceOf(factory), cells };
    }),
    arms,
    budget,
  };
}

/** The comparison's own choices first, so that a person can change them. */
function cellOf(
  factory: WorldFactory,
  arm: Arm,
  { arms, budget, set, catalogue = builtIns }: StudyRequest,
): Cell {
  const { recipe } = arm;
  const limits = budgetSettings(budget);
  // What one recipe does not read is left out for it; what none reads is refused.
  const recipes = arms.map((one) => one.recipe);
  const read = (assignments: readonly string[]): string[] => readOf(recipe, recipes, assignments, catalogue);
  const resolved = (assignments: readonly string[]): PreparedRun =>
    prepareRun(factory, recipe, readSettings(factory, recipe, assignments, catalogue), catalogue);
  const first = resolved([...read([...limits, ...set]), ...arm.set]).config;
  const every = `evaluation.every=${stepsBetween(first, budget)}`;
  // Nobody asked for these: a recipe that does not read them runs without.
  const chosen = ['threads=1', 'rolloutLog=0', every].filter((one) => reads(recipe, one, set, catalogue));
  const assignments = [...chosen, ...read([...limits, ...set]), ...arm.set];
  return {
    arm,
    assignments,
    run: resolved(assignments),
    files: filesOf({ ...arm, set: [...set, ...arm.set] }),
  };
}

/** Ten points make a curve; where the number of steps is not known, every fifth step is measured. */
function stepsBetween({ steps, rollout }: TrainConfig, budget: Budget | undefined): number {
  const known =
    budget?.axis === 'episodes'
      ? budget.amount / (rollout.tasks * rollout.group)
      : steps === unlimitedSteps
        ? 50
        : steps;
  return Math.max(1, Math.ceil(known / 10));
}

/** An address such as openenv:ws://host:8000 makes no folder name. */
export const folderName = (name: string): string =>
  name.replaceAll(/[^\w.-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '');

function defaultName(worlds: readonly WorldFactory[], arms: readonly Arm[]): string {
  const list = (names: readonly string[], between: string): string =>
    names.length <= 4 ? names.join(between) : `${names[0]}${between}${names.length - 1}-others`;
  const places = list(
    worlds.map(({ name }) => folderName(name)),
    '+',
  );
  return `${places}-${list(
    arms.map(({ name }) => folderName(name)),
    '-vs-',
  )}`;
}

function refuseOwnKeys(set: readonly string[]): void {
  for (const key of ['seed', 'start']) {
    if (!set.some((assignment) => assignment.startsWith(`${key}=`))) continue;
    throw new TurnwiseError('comparison-setting', {
      what: `A comparison chooses "${key}" itself: one for each seed`,
      next: key === 'seed' ? 'Use --seeds to say which' : 'Leave it out',
      fields: { key },
    });
  }
}

/**
 * Arms that would imitate otherwise cannot begin alike, and then their difference says nothing about the method. A context is part of
 * a method: each has a start of its own, which imitates the same episodes as it reads them.
 */
function requireSharedStart(cells: readonly Cell[]): void {
  const facts = ({
    config: { environment, model, lora, chat, clone, rollout, evaluation },
  }: PreparedRun): object => ({
    environment,
    model,
    lora,
    chat,
    clone,
    rollout: { maxTurns: rollout.maxTurns, exchangeEvery: rollout.exchangeEvery },
    evaluation: { finalTasks: evaluation.finalTasks },
  });
  const first = cells[0]!;
  for (const cell of cells) {
    const [other] = differences(facts(first.run), facts(cell.run));
    if (other === undefined) continue;
    throw new TurnwiseError('comparison-start', {
      what: `The arms "${first.arm.name}" and "${cell.arm.name}" cannot share a warm start: they differ in ${other.key}`,
      seen: other.values.map((value) => JSON.stringify(value)).join(' and '),
      next: `Set it for all: --set ${other.key}=${JSON.stringify(other.values[1])}`,
      fields: { key: other.key },
    });
  }
}
