/** A claim from its file to its result: tuning on seeds of its own, then the verdict runs. All of it resumes. */

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson } from '../core/json/json.ts';
import type { World } from '../env/world.ts';
import { findEnvironment } from '../run/load/environments.ts';
import { namedIn } from './arm.ts';
import { summaryOf } from './arm-summary.ts';
import { assignmentsOf, type Claim, claimArms, claimantOf, type StoredClaim } from './claim.ts';
import type { ClaimedAt } from './claim-git.ts';
import { type ClaimResult, metricsOf, type WrittenResult, type WrittenRun } from './claim-result.ts';
import { type Job, type JobChoice, jobsOf } from './jobs.ts';
import { ledgerOf } from './ledger.ts';
import { provenance } from './provenance.ts';
import { costToReach, meanMetric, type RunRecord, readRun } from './run-record.ts';
import { type Cell, prepareStudy, type Study, type StudyWorld } from './study.ts';
import { extended, gridAround, nearBest, type TunedRate, tunedRates, winningEnd } from './tuning.ts';
import { type ArmResult, armOf, costLevel, type WorldResult, worldResults } from './world-results.ts';

/** Rounds in which a grid may grow before its end is taken as it is. */
const mostExtensions = 3;

export interface ClaimStudy {
  readonly study: Study;
  readonly claim: Claim;
  readonly seeds: { readonly tuning: readonly number[]; readonly verdict: readonly number[] };
}

/** @param root folder of all runs @param verdict other seeds than the claim's: a replication */
export async function prepareClaim(
  { claim }: StoredClaim,
  root: string,
  verdict?: readonly number[],
): Promise<ClaimStudy> {
  const study = prepareStudy({
    worlds: await Promise.all(claim.worlds.map(({ name }) => findEnvironment(name))),
    ...(await namedIn(
      // Claims are about sampled play.
      [
        'evaluation.greedy=false',
        `evaluation.finalTasks=${claim.evaluationEpisodes}`,
        ...assignmentsOf(claim.settings),
      ],
      await claimArms(claim),
    )),
    budget: claim.budget,
    name: `claim-${claim.id}`,
    root,
  });
  return { study, claim, seeds: { ...claim.seeds, ...(verdict && { verdict }) } };
}

/** Rates of each arm in each world. */
type Grids = ReadonlyMap<string, readonly (number | undefined)[]>;

const keyOf = (world: { readonly name: string }, arm: string): string => `${world.name}\0${arm}`;

function firstGrids({ study, claim }: ClaimStudy): Grids {
  return new Map(
    study.worlds.flatMap((world) =>
      world.cells.map(({ arm, run }) => {
        const { tune } = claim.arms[arm.name]!;
        const own = gridAround(run.config.optimizer.learningRate);
        return [keyOf(world, arm.name), tune === false ? [undefined] : tune === true ? own : tune] as const;
      }),
    ),
  );
}

const withRates =
  (grids: Grids): NonNullable<JobChoice['rates']> =>
  (world: StudyWorld, { arm }: Cell) =>
    grids.get(keyOf(world, arm.name))!;

export function tuningJobs(claimed: ClaimStudy, grids: Grids = firstGrids(claimed)): readonly Job[] {
  const tuned = new Map([...grids].map(([key, rates]) => [key, rates[0] === undefined ? [] : rates]));
  return jobsOf(claimed.study, { seeds: claimed.seeds.tuning, split: 'validation', rates: withRates(tuned) });
}

/** Verdict runs as far as they are known before tuning: each arm at its own rate. */
export function plannedVerdictJobs({ study, seeds }: ClaimStudy): readonly Job[] {
  return jobsOf(study, { seeds: seeds.verdict });
}

export interface Tuned {
  readonly jobs: readonly Job[];
  /** By world and arm, best first. */
  readonly rates: ReadonlyMap<string, readonly TunedRate[]>;
}

/** Whatever runs jobs; false where it was stopped or something failed, and then the same command goes on. */
export type RunJobs = (jobs: readonly Job[]) => Promise<boolean>;

/** Where the end of a grid wins, the grids of all arms of that world grow at that end. */
export async function tune(claimed: ClaimStudy, run: RunJobs): Promise<Tuned | undefined> {
  const { study } = claimed;
  let grids = firstGrids(claimed);
  for (let round = 0; ; round++) {
    const jobs = tuningJobs(claimed, grids);
    if (!(await run(jobs))) return undefined;
    const results = worldResults(study, jobs);
    const rates = new Map(
      study.worlds.flatMap((world, index) =>
        world.cells.map(
          ({ arm }) => [keyOf(world, arm.name), tunedRates(results[index]!, arm.name)] as const,
        ),
      ),
    );
    const grown = new Map(
      study.worlds.flatMap((world) => {
        const ends = new Set(
          world.cells.flatMap(({ arm }) => winningEnd(rates.get(keyOf(world, arm.name))!) ?? []),
        );
        return world.cells.map(({ arm }) => {
          const grid = grids.get(keyOf(world, arm.name))!;
          const numbers = grid.filter((rate) => rate !== undefined);
          const wider = [...ends].reduce<readonly number[]>((so, end) => extended(so, end), numbers);
          return [keyOf(world, arm.name), numbers.length < 2 ? grid : wider] as const;
        });
      }),
    );
    const same = [...grids].every(([key, rates]) => grown.get(key)!.length === rates.length);
    if (same || round === mostExtensions) return { jobs, rates };
    grids = grown;
  }
}

/** The claimant runs at its best rate; all others at every rate that may be theirs. */
export function verdictJobs(claimed: ClaimStudy, { rates }: Tuned): readonly Job[] {
  const { study, claim, seeds } = claimed;
  const claimant = claimantOf(claim);
  const chosen: Grids = new Map(
    [...rates].map(([key, tuned]): [string, readonly (number | undefined)[]] => {
      const [best] = tuned;
      if (best === undefined) return [key, [undefined]];
      return [key, key.endsWith(`\0${claimant}`) ? [best.rate] : nearBest(tuned)];
    }),
  );
  return jobsOf(study, { seeds: seeds.verdict, rates: withRates(chosen) });
}

/** The verdict runs of a result, for whoever has them on disk. */
export function jobsOfResult({ study }: ClaimStudy, { seeds, worlds }: ClaimResult): readonly Job[] {
  const rates: NonNullable<JobChoice['rates']> = ({ name }, { arm }) =>
    (worlds[name]?.runs ?? []).filter((one) => one.arm === arm.name).map(({ rate }) => rate);
  return jobsOf(study, { seeds: seeds.verdict, rates });
}

/** What the verdict runs came to, in the form that is committed. */
export function resultFor(
  claimed: ClaimStudy,
  tuned: Tuned,
  jobs: readonly Job[],
  at: ClaimedAt,
): WrittenResult {
  const { study, claim, seeds } = claimed;
  const { version, node, runtime, processor, cores, date } = provenance();
  const worlds = worldResults(study, jobs);
  const lock = existsSync('package-lock.json') ? sha256(readFileSync('package-lock.json')) : undefined;
  return {
    ...{ format: 'turnwise-claim-result', formatVersion: 1, claim: claim.id },
    ...{ claimBlob: at.claimBlob, commit: at.commit, dirty: false, version },
    ...(lock !== undefined && { lock: lock.slice(0, 16) }),
    ...{ node, runtime, processor, cores, date },
    seeds: { tuning: [...seeds.tuning], verdict: [...seeds.verdict] },
    hours: { tuning: hoursOf(study, tuned.jobs), verdict: hoursOf(study, jobs) },
    ledger: Object.fromEntries(
      study.worlds[0]!.cells.map(({ arm, run }) => [
        arm.name,
        [...ledgerOf(run, claim.arms[arm.name]!.ledger)],
      ]),
    ),
    gate: claim.gate.map(({ metric, arm }) => gateValue(worlds, arm, metric)),
    worlds: Object.fromEntries(
      worlds.map((world, index) => {
        const place = study.worlds[index]!;
        const rates = place.cells.map(({ arm }) => [
          arm.name,
          (tuned.rates.get(keyOf(place, arm.name)) ?? []).map(({ rate, area }): [number, number] => [
            rate,
            round(area),
          ]),
        ]);
        return [
          world.world,
          {
            testTasks: testTasksIn(world),
            tasks: tasksHash(place.cells[0]!.run.world),
            tuned: Object.fromEntries(rates) as Record<string, [number, number][]>,
            runs: world.arms.flatMap((arm) => resultRun(claim, world, arm) ?? []),
          },
        ];
      }),
    ),
    files: filesHash(study, jobs),
  };
}

function resultRun(claim: Claim, world: WorldResult, arm: ArmResult): WrittenRun | undefined {
  const summary = summaryOf(arm, world.reading);
  if (summary === null) return undefined;
  const wanted = metricsOf(claim);
  const bySeed = (of: (seed: ArmResult['seeds'][number]) => number): (number | null)[] =>
    arm.seeds.map((seed) => (seed.figures ? round(of(seed)) : null));
  const claimant = armOf(world, claimantOf(claim))!;
  const episodes = arm.seeds.find(({ figures }) => figures)?.figures?.episodes;
  return {
    arm: arm.arm,
    ...(arm.rate !== undefined && { rate: arm.rate }),
    final: bySeed(({ figures }) => figures!.final),
    ...(episodes !== undefined && { episodes }),
    area: wanted.has('area') ? bySeed(({ figures }) => figures!.area) : [round(summary.area)],
    ...(wanted.has('return') && { return: bySeed(({ figures }) => figures!.return) }),
    ...(wanted.has('cost') && {
      cost: bySeed(({ run }) => Math.round(costToReach(run!, world.reading, costLevel).spent)),
    }),
    start: round(summary.warm),
    spent: [
      Math.round(summary.spent.episodes),
      Math.round(summary.spent.turns),
      Math.round(summary.spent.tokens),
      Math.round(summary.spent.seconds),
    ],
    ...(summary.collapses > 0 && { collapsed: summary.collapses }),
    ...(summary.diverged > 0 && { diverged: summary.diverged }),
    ...(arm !== claimant && isEqual(arm, claimant) && { equal: true as const }),
  };
}

/** Three digits say all that 500 episodes do; of what is counted, no whole unit is lost. */
function round(value: number): number {
  const whole = Math.abs(value) < 1 ? 0 : Math.floor(Math.log10(Math.abs(value))) + 1;
  return Number(value.toFixed(Math.max(0, 3 - whole)));
}

/** Every evaluation of every seed, and every metric that both report of a step: such an arm changes nothing here. */
function isEqual(first: ArmResult, second: ArmResult): boolean {
  return first.seeds.every(({ run }, index) => {
    const other = second.seeds[index]?.run;
    return run !== undefined && other !== undefined && isEqualRun(run, other);
  });
}

const measuresTime = /^(time|speed|loop)\//;

function isEqualRun(first: RunRecord, second: RunRecord): boolean {
  const evaluations = ({ points }: RunRecord): string =>
    JSON.stringify(points.map(({ success, return: paid }) => [success, paid]));
  return (
    evaluations(first) === evaluations(second) &&
    first.steps.length === second.steps.length &&
    first.steps.every(({ metrics }, index) => {
      const others = second.steps[index]!.metrics;
      return Object.entries(metrics).every(
        ([name, value]) => measuresTime.test(name) || !(name in others) || Object.is(others[name], value),
      );
    })
  );
}

function gateValue(worlds: readonly WorldResult[], arm: string, metric: string): number | null {
  const values = worlds.flatMap((world) =>
    (armOf(world, arm)?.seeds ?? []).flatMap(({ run }) => (run && meanMetric(run, metric)) ?? []),
  );
  return values.length === 0 ? null : round(values.reduce((sum, value) => sum + value, 0) / values.length);
}

function testTasksIn({ arms }: WorldResult): string {
  const runs = arms.flatMap(({ seeds }) => seeds.flatMap(({ run }) => run ?? []));
  return runs.find(({ start }) => start?.testTasks)?.start?.testTasks ?? 'unknown';
}

/** Endless sets are hashed as far as this. */
const tasksHashed = 300;

/** Of the tasks that training and evaluation play. */
export function tasksHash({ tasks }: Pick<World, 'tasks'>): string {
  const hash = createHash('sha256');
  for (const split of ['train', 'validation', 'test'] as const) {
    const { size, at } = tasks(split);
    hash.update(`${split} ${size}\n`);
    for (let index = 0; index < Math.min(size, tasksHashed); index++)
      hash.update(`${canonicalJson(at(index))}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}

function hoursOf({ store }: Study, jobs: readonly Job[]): number {
  const names = new Set(jobs.map(({ name }) => name));
  const seconds = [...names].reduce((sum, name) => sum + (readRun(store, name)?.wallSeconds ?? 0), 0);
  return Math.round(seconds / 36) / 100;
}

function filesHash({ store }: Study, jobs: readonly Job[]): string {
  const names = [...new Set(jobs.map(({ name }) => name))].sort();
  const hashes = names.map((name) => {
    const path = join(store, name, 'events.jsonl');
    return existsSync(path) ? sha256(readFileSync(path)) : 'missing';
  });
  return sha256(hashes.join('\n')).slice(0, 16);
}

const sha256 = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');
