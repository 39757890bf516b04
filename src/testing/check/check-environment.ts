/** `turnwise env check`, as a function: everything that can be wrong with an environment before a model plays it. */

import type { JsonObject } from '../../core/json/json.ts';
import { thrownText } from '../../core/safe-text.ts';
import type { WorldFactory } from '../../env/factory.ts';
import { optionsForReaders } from '../../env/wording.ts';
import { factoryUnderTest, type TestedWorld } from '../world-under-test.ts';
import { checkActions, checkFacts, checkLaws, checkTruths, checkWordings } from './law-checks.ts';
import {
  checkEnds,
  checkHackable,
  checkObservations,
  checkRewards,
  checkSolvable,
  checkVariance,
} from './play-checks.ts';
import type { Checked, CheckReport } from './report.ts';
import { checkSpeed } from './speed.ts';
import { type Plays, playAll, type Subject } from './subject.ts';
import { checkTasks } from './task-checks.ts';

const ALONE = {
  laws: checkLaws,
  actions: checkActions,
  truth: checkTruths,
  wordings: checkWordings,
  facts: checkFacts,
  speed: checkSpeed,
} as const satisfies Record<string, (subject: Subject) => Promise<Checked>>;

const OF_PLAYS = {
  ends: checkEnds,
  solvable: checkSolvable,
  rewards: checkRewards,
  hackable: checkHackable,
  observations: checkObservations,
  variance: checkVariance,
} as const satisfies Record<string, (subject: Subject, plays: Plays) => Checked | Promise<Checked>>;

export type { Checked, CheckReport, Finding } from './report.ts';

export const checkNames: readonly string[] = ['tasks', ...Object.keys(ALONE), ...Object.keys(OF_PLAYS)];

export interface CheckOptions {
  /** Options of the world; default: its own. */
  readonly options?: JsonObject;
  /** Episodes of each player. Default 60 of a pure world, 6 of a live one. */
  readonly episodes?: number;
  /** Milliseconds that half of the steps may take. Default 20. */
  readonly slowestMs?: number;
  /** Names of checks to leave out. */
  readonly skip?: readonly string[];
  /** Told of each check when it begins. */
  begins?(check: string): void;
  /** Told of each check when it ends. */
  ends?(checked: Checked): void;
}

/**
 * Check an environment without a model: purity, determinism, replay, tasks, legal actions, wordings, facts, ends, solvability,
 * the range of rewards, whether players without the task win, variance within groups, speed. Each fault comes with the
 * options, task, seed and actions that show it.
 *
 * @example
 * const { passes, checks } = await checkEnvironment(treasure);
 *
 * @throws TurnwiseError `config-invalid` for what is no world
 */
export async function checkEnvironment<Task, State>(
  tested: TestedWorld<Task, State>,
  given: CheckOptions = {},
): Promise<CheckReport> {
  const factory = factoryUnderTest(tested);
  const { options = {}, slowestMs = 20, skip = [] } = given;
  const world = factory.create(factory.options.parse(options));
  const episodes = given.episodes ?? (world.pure ? 60 : 6);
  const subject: Subject = { world, natural: inNaturalWords(factory, options), options, episodes, slowestMs };
  const checks: Checked[] = [];
  const run = async (check: string, make: () => Checked | Promise<Checked>) => {
    if (skip.includes(check)) return;
    given.begins?.(check);
    const checked = await guarded(check, subject, make);
    given.ends?.(checked);
    checks.push(checked);
  };
  await run('tasks', () => checkTasks(subject));
  for (const [name, check] of Object.entries(ALONE)) await run(name, () => check(subject));
  let plays: Plays | undefined;
  for (const [name, check] of Object.entries(OF_PLAYS))
    await run(name, async () => {
      plays = plays ?? (await playAll(subject));
      return check(subject, plays);
    });
  return { environment: world.name, checks, passes: checks.every(({ findings }) => findings.length === 0) };
}

/** A check that an environment makes throw is a fault of the environment. */
async function guarded(
  check: string,
  { options }: Subject,
  make: () => Checked | Promise<Checked>,
): Promise<Checked> {
  try {
    return await make();
  } catch (error) {
    const finding = {
      fault: `it threw: ${thrownText(error)}`,
      counterexample: { options },
      next: 'Correct what throws.',
    };
    return { check, seen: 'it threw', findings: [finding] };
  }
}

/** The other wording; undefined where there is none. */
function inNaturalWords(factory: WorldFactory, options: JsonObject) {
  const reading = optionsForReaders(factory.options);
  if (reading.wording === undefined || options.wording === 'natural') return undefined;
  return factory.create(factory.options.parse({ ...options, ...reading }));
}
