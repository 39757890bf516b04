/** The arms of a comparison against each other: each pair, by every metric, in every world and over all of them. */

import { Rng } from '../core/rng.ts';
import { mean } from '../core/statistics.ts';
import { interquartileMean, performanceProfile, probabilityOfImprovement } from '../evidence/aggregate.ts';
import { breakEven } from '../evidence/collapse.ts';
import { benjaminiHochberg } from '../evidence/multiplicity.ts';
import { type ArmScores, comparePaired, type PairedComparison, type WorldPair } from '../evidence/paired.ts';
import type { Job } from './jobs.ts';
import { costToReach, type Reading } from './run-record.ts';
import type { Study } from './study.ts';
import type { JobStatus } from './sweep.ts';
import {
  type ArmResult,
  armOf,
  costLevel,
  type SeedResult,
  type WorldResult,
  worldResults,
} from './world-results.ts';

/** Where performance profiles are read. */
export const profileThresholds: readonly number[] = Array.from({ length: 21 }, (_, index) => index / 20);

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
  if (world.reading.quantity !== 'success' || lead === 0) return undefined;
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
