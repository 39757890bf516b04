/** What the runs of a claim came to, in the form that is committed. */

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson } from '../../core/json/json.ts';
import type { World } from '../../env/world.ts';
import { summaryOf } from '../arm-summary.ts';
import type { Job } from '../jobs.ts';
import { ledgerOf } from '../ledger.ts';
import { provenance } from '../provenance.ts';
import { costToReach, meanMetric, measuredAt, type RunRecord, readRun } from '../run-record.ts';
import type { Study } from '../study.ts';
import { type ArmResult, armOf, costLevel, type WorldResult, worldResults } from '../world-results.ts';
import { type Claim, claimantOf } from './claim.ts';
import type { ClaimedAt } from './claim-git.ts';
import { measuredIn, metricsOf, type WrittenResult, type WrittenRun } from './claim-result.ts';
import { type ClaimStudy, keyOf, type Tuned } from './claim-run.ts';

/** Of the verdict runs, beside what tuning found. */
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
  const measured = measuredIn(claim);
  const bySeed = (of: (seed: ArmResult['seeds'][number]) => number | undefined): (number | null)[] =>
    arm.seeds.map((seed) => {
      const value = seed.figures && of(seed);
      return value === undefined ? null : round(value);
    });
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
    ...(measured.length > 0 && {
      measured: Object.fromEntries(
        measured.map((name) => [name, bySeed(({ run }) => measuredAt(run!, name, world.reading))]),
      ),
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
