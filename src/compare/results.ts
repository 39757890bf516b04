/** What the runs of a comparison came to: each seed, each arm over its seeds, and each pair of arms. */

import { Rng } from '../core/rng.ts';
import { mean, quantile } from '../core/statistics.ts';
import { interquartileMean, performanceProfile, probabilityOfImprovement } from '../evidence/aggregate.ts';
import { breakEven, collapseBound } from '../evidence/collapse.ts';
import { benjaminiHochberg } from '../evidence/multiplicity.ts';
import { type ArmScores, comparePaired, type PairedComparison, type WorldPair } from '../evidence/paired.ts';
import type { Spend } from '../train/loop/events.ts';
import { type CostAxis, costAxes } from './budget.ts';
import type { Problem } from './child-run.ts';
import {
  costToReach,
  figuresOf,
  type Quantity,
  type Reading,
  type RunFigures,
  type RunRecord,
  readRun,
} from './run-record.ts';
import type { Job, Study } from './study.ts';
import { type JobStatus, statusOnDisk } from './sweep.ts';

/** Where performance profiles are read. */
export const profileThresholds: readonly number[] = Array.from({ length: 21 }, (_, index) => index / 20);

/** The success that `cost` is measured to. */
export const costLevel = 0.8;

/** One run that finished or diverged, or the reason why there is none. */
export interface SeedResult {
  readonly seed: number;
  readonly name: string;
  readonly run?: RunRecord;
  readonly figures?: RunFigures;
  /** It ended before its budget because it computed no numbers any more: its last evaluation counts. */
  readonly diverged?: true;
  readonly problem?: Problem;
}

export interface ArmResult {
  readonly arm: string;
  readonly rate?: number;
  readonly seeds: readonly SeedResult[];
}

export interface WorldResult {
  readonly world: string;
  readonly reading: Reading;
  readonly arms: readonly ArmResult[];
}

/** What arms are compared by. */
export type MetricName = 'final' | 'area' | 'return' | 'cost';

export interface PairResult {
  readonly first: string;
  readonly second: string;
  readonly metric: MetricName;
  /** The world, or undefined where it is the mean over all. */
  readonly world?: string;
  /** The second minus the first. */
  readonly comparison: PairedComparison;
  /** p after Benjamini and Hochberg over all rows of the table. */
  readonly adjusted: number;
  /** The collapse rate of the one ahead at which its lead is gone. */
  readonly breakEven?: number;
}

export interface Comparison {
  readonly name: string;
  readonly worlds: readonly WorldResult[];
  readonly pairs: readonly PairResult[];
  /** From two worlds on, for each arm: figures over all runs of all worlds. */
  readonly overall: readonly {
    readonly arm: string;
    readonly mean: number;
    readonly interquartileMean: number;
    /** The share of runs above each of `profileThresholds`. */
    readonly profile: readonly number[];
  }[];
  /** From two worlds on: the chance that a run of the second is better than one of the first. */
  readonly improvement: readonly {
    readonly first: string;
    readonly second: string;
    readonly probability: number;
  }[];
}

/**
 * Every world of a study, read where its budget ends.
 *
 * @param failed what was told of runs that failed: the disk does not know why
 */
export function worldResults(
  study: Study,
  jobs: readonly Job[],
  failed: readonly JobStatus[] = [],
): readonly WorldResult[] {
  const problems = new Map(failed.flatMap(({ job, problem }) => (problem ? [[job.name, problem]] : [])));
  return study.worlds.map(({ name }) => {
    const own = jobs.filter(({ kind, world }) => kind === 'run' && world === name);
    const found = new Map(own.map((job) => [job, foundRun(study, job)]));
    const runs = [...found.values()].flatMap(({ run }) => run ?? []);
    const reading = readingOf(study, runs);
    const keys = [...new Map(own.map((job) => [`${job.arm}\0${job.rate}`, job])).values()];
    return {
      world: name,
      reading,
      arms: keys.map(({ arm, rate }) => ({
        arm,
        ...(rate !== undefined && { rate }),
        seeds: own
          .filter((job) => job.arm === arm && job.rate === rate)
          .map((job) => seedResult(job, found.get(job)!, reading, problems.get(job.name))),
      })),
    };
  });
}

interface Found {
  readonly status: JobStatus;
  readonly run?: RunRecord;
}

function foundRun({ store }: Study, job: Job): Found {
  const status = statusOnDisk(store, job);
  const counts = status.state === 'finished' || status.state === 'diverged';
  const run = counts ? readRun(store, job.name) : undefined;
  return { status, ...(run && { run }) };
}

function seedResult(
  { seed, name }: Job,
  { status, run }: Found,
  reading: Reading,
  problem = status.problem,
): SeedResult {
  const figures = run && figuresOf(run, reading);
  return {
    seed,
    name,
    ...(run && { run }),
    ...(figures && { figures }),
    ...(status.state === 'diverged' && { diverged: true as const }),
    ...(problem && { problem }),
  };
}

/** Where nothing but steps ends runs, curves are read over environment steps as far as every run went. */
function readingOf({ budget }: Study, runs: readonly RunRecord[]): Reading {
  const game = runs.some(({ points }) => points.some(({ exploitability }) => exploitability !== undefined));
  const quantity: Quantity = game ? 'exploitability' : 'success';
  if (budget !== undefined && budget.axis !== 'steps') {
    return { quantity, axis: budget.axis, end: budget.amount };
  }
  const ends = runs.flatMap(({ points }) => points.at(-1)?.spent.turns ?? []);
  return { quantity, axis: 'turns', end: ends.length === 0 ? 0 : Math.min(...ends) };
}

/** Every pair of arms, by every metric that says something, in every world and over all of them. */
export function compareArms(
  study: Study,
  jobs: readonly Job[],
  failed: readonly JobStatus[] = [],
): Comparison {
  const worlds = worldResults(study, jobs, failed);
  const arms = study.arms.map(({ name }) => name);
  const rows = arms.flatMap((first, index) =>
    arms
      .slice(index + 1)
      .flatMap((second) => [
        ...(worlds.length > 1 ? metricsOverWorlds(worlds) : []).flatMap(
          (metric) => pairRow(worlds, first, second, metric) ?? [],
        ),
        ...worlds.flatMap((world) =>
          metricsOf(world).flatMap((metric) => pairRow([world], first, second, metric) ?? []),
        ),
      ]),
  );
  const adjusted = benjaminiHochberg(rows.map(({ comparison }) => comparison.p));
  return {
    name: study.name,
    worlds,
    pairs: rows.map((row, index) => ({ ...row, adjusted: adjusted[index]! })),
    ...describedOverWorlds(worlds, arms),
  };
}

/** Return where it says more than success, and cost where the level means something. */
function metricsOf({ reading, arms }: WorldResult): readonly MetricName[] {
  if (reading.quantity === 'exploitability') return ['final', 'area'];
  const runs = arms.flatMap(({ seeds }) => seeds.flatMap(({ run }) => run ?? []));
  const paid = runs.some(({ points }) =>
    points.some((point) => Math.abs(point.return - point.success) > 1e-6),
  );
  return ['final', 'area', ...(paid ? (['return'] as const) : []), 'cost'];
}

/** What has one unit in all worlds. */
function metricsOverWorlds(worlds: readonly WorldResult[]): readonly MetricName[] {
  const quantities = new Set(worlds.map(({ reading }) => reading.quantity));
  if (quantities.size > 1) return [];
  return quantities.has('exploitability') ? ['final', 'area'] : ['final', 'area', 'cost'];
}

/** Over several worlds the costs are shares of each budget, since their units are not those of other worlds. */
function pairRow(
  worlds: readonly WorldResult[],
  first: string,
  second: string,
  metric: MetricName,
): Omit<PairResult, 'adjusted'> | undefined {
  const shares = worlds.length > 1;
  const pairs = worlds.map((world) => worldPair(world, first, second, metric, shares));
  if (pairs.some((pair) => pair.first.values_S.length === 0)) return undefined;
  const [only] = worlds;
  const name = shares ? 'all worlds' : only!.world;
  const comparison = comparePaired(pairs, { rng: Rng.of('compare', metric, first, second, name) });
  const lead = metric === 'final' && !shares ? leadBreaks(only!, first, second, comparison.mean) : undefined;
  return {
    ...{ first, second, metric, comparison },
    ...(!shares && { world: only!.world }),
    ...(lead !== undefined && { breakEven: lead }),
  };
}

function leadBreaks(world: WorldResult, first: string, second: string, lead: number): number | undefined {
  if (world.reading.quantity !== 'success') return undefined;
  const ahead = armOf(world, lead > 0 ? second : first);
  const figures = ahead?.seeds.flatMap((seed) => seed.figures ?? []) ?? [];
  if (figures.length === 0) return undefined;
  const rate = breakEven(
    Math.abs(lead),
    mean(figures.map(({ final }) => final)),
    mean(figures.map(({ warm }) => warm)),
  );
  return rate === undefined || rate > 1 ? undefined : rate;
}

export function armOf({ arms }: WorldResult, name: string, rate?: number): ArmResult | undefined {
  return arms.find((result) => result.arm === name && (rate === undefined || result.rate === rate));
}

/** The second arm, then the first, with the seeds that both have: both members of a pair leave, or none. */
export function worldPair(
  world: WorldResult,
  first: string | ArmResult,
  second: string | ArmResult,
  metric: MetricName,
  asShares = false,
): WorldPair {
  const result = (arm: string | ArmResult): ArmResult | undefined =>
    typeof arm === 'string' ? armOf(world, arm) : arm;
  const [a, b] = [result(first)?.seeds ?? [], result(second)?.seeds ?? []];
  const both = a.flatMap((seed) => {
    const other = b.find((one) => one.seed === seed.seed && one.figures !== undefined);
    return seed.figures && other ? [[seed, other] as const] : [];
  });
  const scores = (seeds: readonly SeedResult[]): ArmScores =>
    scoresOf(seeds, world.reading, metric, asShares);
  return { first: scores(both.map(([, other]) => other)), second: scores(both.map(([seed]) => seed)) };
}

function scoresOf(
  seeds: readonly SeedResult[],
  reading: Reading,
  metric: MetricName,
  asShares: boolean,
): ArmScores {
  const values_S = seeds.map(({ run, figures }) => {
    if (metric !== 'cost') return figures![metric];
    const { spent } = costToReach(run!, reading, costLevel);
    return asShares ? spent / reading.end : spent;
  });
  const shares_S =
    metric === 'final'
      ? seeds.flatMap(({ figures }) =>
          figures!.episodes === undefined
            ? []
            : [{ solved: figures!.final * figures!.episodes, episodes: figures!.episodes }],
        )
      : [];
  return { values_S, ...(shares_S.length === seeds.length && { shares_S }) };
}

function describedOverWorlds(
  worlds: readonly WorldResult[],
  arms: readonly string[],
): Pick<Comparison, 'overall' | 'improvement'> {
  if (worlds.length < 2) return { overall: [], improvement: [] };
  /** Seeds that every world has of this arm. */
  const table = (arm: string): number[][] => {
    const columns = worlds.map((world) => {
      const seeds = armOf(world, arm)?.seeds ?? [];
      return new Map(seeds.flatMap(({ seed, figures }) => (figures ? [[seed, figures.final]] : [])));
    });
    const shared = [...columns[0]!.keys()].filter((seed) => columns.every((column) => column.has(seed)));
    return shared.map((seed) => columns.map((column) => column.get(seed)!));
  };
  const tables = new Map(
    arms.map((arm) => [arm, table(arm)]).filter(([, rows]) => rows!.length > 0) as [string, number[][]][],
  );
  const named = [...tables];
  return {
    overall: named.map(([arm, scores]) => ({
      arm,
      mean: mean(scores.map((row) => mean(row))),
      interquartileMean: interquartileMean(scores),
      profile: performanceProfile(scores, profileThresholds),
    })),
    improvement: named.flatMap(([first, a], index) =>
      named
        .slice(index + 1)
        .map(([second, b]) => ({ first, second, probability: probabilityOfImprovement(b, a) })),
    ),
  };
}

/** Figures of an arm over the seeds that it has. */
export interface ArmSummary {
  readonly counted: number;
  readonly diverged: number;
  readonly missing: number;
  readonly warm: number;
  readonly final: number;
  readonly area: number;
  readonly return: number;
  /** Means over seeds of what was spent where the budget ends. */
  readonly spent: Spend;
  /** Medians over seeds of what was spent until success was `costLevel`: null where half never got there. */
  readonly toLevel: Readonly<Record<CostAxis, number | null>>;
  readonly reached: number;
  readonly collapses: number;
  /** No collapse was seen, and yet this rate of collapses is possible, at 95%. */
  readonly collapseBound: number;
  readonly secondsPerStep: number;
}

/** Null where no seed has figures. */
export function summaryOf({ seeds }: ArmResult, reading: Reading): ArmSummary | null {
  const runs = seeds.flatMap(({ run, figures }) => (run && figures ? [{ run, figures }] : []));
  if (runs.length === 0) return null;
  const over = (of: (figures: RunFigures) => number): number => mean(runs.map(({ figures }) => of(figures)));
  const byAxis = <T>(of: (axis: CostAxis) => T) =>
    Object.fromEntries(costAxes.map((axis) => [axis, of(axis)])) as Record<CostAxis, T>;
  const whole = (axis: CostAxis): Reading => ({ ...reading, axis, end: Number.POSITIVE_INFINITY });
  const costs = (axis: CostAxis) => runs.map(({ run }) => costToReach(run, whole(axis), costLevel));
  return {
    counted: runs.length,
    diverged: seeds.filter(({ diverged }) => diverged).length,
    missing: seeds.length - runs.length,
    warm: over(({ warm }) => warm),
    final: over(({ final }) => final),
    area: over(({ area }) => area),
    return: over((figures) => figures.return),
    spent: byAxis((axis) => over(({ spent }) => spent[axis])),
    toLevel: byAxis((axis) => {
      const sorted = costs(axis).map(({ spent, reached }) => (reached ? spent : Number.MAX_VALUE));
      const median = quantile(sorted, 0.5);
      return median > Number.MAX_VALUE / 4 ? null : median;
    }),
    reached: costs('turns').filter(({ reached }) => reached).length,
    collapses: runs.filter(({ figures }) => figures.collapsed).length,
    collapseBound: collapseBound(runs.length),
    secondsPerStep: quantile(
      runs.flatMap(({ run }) => run.steps.map(({ metrics }) => metrics['time/step_s'] ?? 0)),
      0.5,
    ),
  };
}
