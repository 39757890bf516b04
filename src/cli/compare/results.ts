/** What the runs of a comparison achieved: each seed, each recipe over its seeds, and each pair of recipes. */

import { Rng } from '../../core/rng.ts';
import { type Interval, quantile } from '../../core/statistics.ts';
import { bootstrapInterval, interquartileMean, pairedDifference } from '../../eval/across-seeds.ts';
import { collapsed } from '../../evidence/collapse.ts';
import { type CurvePoint, meanValue, spentToReach } from '../../evidence/learning-curve.ts';
import type { Problem } from './child-run.ts';
import type { Plan } from './plan.ts';
import { type Measure, measureOf, type RunCurve, runCurve, tasksOf } from './run-curve.ts';
import { historyOf, type JobStatus } from './sweep.ts';

/** One run that finished, or the reason why there is none. */
export interface SeedResult {
  readonly seed: number;
  readonly name: string;
  readonly curve?: RunCurve;
  readonly problem?: Problem;
}

/** A figure over seeds; without an interval where one seed is all there is. */
export interface Estimate {
  readonly value: number;
  readonly interval: Interval | null;
}

export interface RecipeResult {
  readonly recipe: string;
  readonly seeds: readonly SeedResult[];
  /** Seeds whose run finished: all figures are over these. */
  readonly finished: number;
  /** Interquartile mean of the last evaluations. */
  readonly final: Estimate | null;
  readonly finalReturn: Estimate | null;
  /** Mean of the measure from the warm start to `Comparison.areaEnd`. */
  readonly area: Estimate | null;
  /** Medians over seeds, where more than half got there; `reached` counts those that did. */
  readonly toLevel: {
    readonly reached: number;
    readonly turns: number | null;
    readonly tokens: number | null;
  };
  readonly collapses: number;
  /** Median over all steps of all seeds. */
  readonly secondsPerStep: number | null;
}

export interface PairResult {
  readonly first: string;
  readonly second: string;
  /** The second minus the first, in what the measure measures; null with fewer than two shared seeds. */
  readonly difference: number;
  readonly interval: Interval | null;
  /** Seeds that both finished. */
  readonly seeds: number;
}

export interface Comparison {
  readonly name: string;
  readonly environment: string;
  /** What the tasks are called: held out, or also practised. */
  readonly tasks: string;
  readonly measure: Measure;
  /** Environment steps over which areas are taken: as far as every finished run went. */
  readonly areaEnd: number;
  readonly recipes: readonly RecipeResult[];
  readonly pairs: readonly PairResult[];
  /** Whether return says more than success. */
  readonly hasReturn: boolean;
}

export function compareRuns(plan: Plan, statuses: readonly JobStatus[]): Comparison {
  const runs = statuses.filter(({ job }) => job.kind === 'run');
  const histories = new Map(
    runs.flatMap(({ job, state }) =>
      state === 'finished' ? [[job.name, historyOf(plan, job)] as const] : [],
    ),
  );
  const measure = measureOf([...histories.values()]);
  const bySeed = (recipe: string): SeedResult[] =>
    runs
      .filter(({ job }) => job.recipe === recipe)
      .map(({ job: { name, seed }, problem }) => {
        const history = histories.get(name);
        return {
          seed,
          name,
          ...(history && { curve: runCurve(history, measure) }),
          ...(problem && { problem }),
        };
      });
  const seedsOf = new Map(plan.recipes.map(({ name }) => [name, bySeed(name)]));
  const curves = [...seedsOf.values()].flat().flatMap(({ curve }) => (curve ? [curve] : []));
  const areaEnd = curves.length === 0 ? 0 : Math.min(...curves.map(({ points }) => points.at(-1)!.turns));
  const recipes = [...seedsOf].map(([recipe, seeds]) => summarise(recipe, seeds, measure, areaEnd));
  const pairs = recipes.flatMap((first, index) =>
    recipes.slice(index + 1).flatMap((second) => pairOf(first, second) ?? []),
  );
  const hasReturn = measure.kind === 'success' && curves.some(({ returnDiffers }) => returnDiffers);
  const tasks = tasksOf([...histories.values()]);
  return {
    name: plan.name,
    environment: plan.environment,
    tasks,
    measure,
    areaEnd,
    recipes,
    pairs,
    hasReturn,
  };
}

function summarise(
  recipe: string,
  seeds: readonly SeedResult[],
  measure: Measure,
  areaEnd: number,
): RecipeResult {
  const curves = seeds.flatMap(({ curve }) => (curve ? [curve] : []));
  const estimate = (figure: string, values: readonly number[]): Estimate | null =>
    values.length === 0
      ? null
      : {
          value: interquartileMean(values),
          interval:
            values.length < 2
              ? null
              : bootstrapInterval(values, interquartileMean, Rng.of('compare', figure, recipe)),
        };
  const finals = curves.map(({ points }) => points.at(-1)!);
  const toLevel = (axis: 'turns' | 'tokens'): (number | undefined)[] =>
    curves.map((curve) =>
      measure.level === undefined ? undefined : spentToReach(along(curve, axis), measure.level),
    );
  return {
    recipe,
    seeds,
    finished: curves.length,
    final: estimate(
      'final',
      finals.map(({ value }) => value),
    ),
    finalReturn: estimate(
      'return',
      finals.flatMap((point) => point.return ?? []),
    ),
    area: estimate(
      'area',
      curves.map((curve) => meanValue(along(curve, 'turns'), areaEnd)),
    ),
    toLevel: {
      reached: toLevel('turns').filter((spent) => spent !== undefined).length,
      turns: medianOfAll(toLevel('turns')),
      tokens: medianOfAll(toLevel('tokens')),
    },
    collapses:
      measure.kind === 'success' ? curves.filter((curve) => collapsed(along(curve, 'turns'))).length : 0,
    secondsPerStep: medianOfAll(curves.flatMap(({ stepSeconds }) => stepSeconds)),
  };
}

/** A seed that never got there counts as later than all others; null where the median is such a seed. */
function medianOfAll(values: readonly (number | undefined)[]): number | null {
  const known = values.filter((value) => value !== undefined);
  if (known.length * 2 <= values.length) return null;
  const median = quantile(
    values.map((value) => value ?? Number.MAX_VALUE),
    0.5,
  );
  return median > Number.MAX_VALUE / 4 ? null : median;
}

/** A curve over environment steps or tokens. */
export function along({ points }: RunCurve, axis: 'turns' | 'tokens'): CurvePoint[] {
  return points.map(({ value, interval, ...spent }) => ({
    spent: spent[axis],
    value,
    ...(interval && { interval }),
  }));
}

function pairOf(first: RecipeResult, second: RecipeResult): PairResult | undefined {
  const finals = (result: RecipeResult): Map<number, number> =>
    new Map(result.seeds.flatMap(({ seed, curve }) => (curve ? [[seed, curve.points.at(-1)!.value]] : [])));
  const [a, b] = [finals(first), finals(second)];
  const shared = [...a.keys()].filter((seed) => b.has(seed));
  if (shared.length === 0) return undefined;
  const { difference, interval } = pairedDifference(
    shared.map((seed) => a.get(seed)!),
    shared.map((seed) => b.get(seed)!),
    interquartileMean,
    Rng.of('compare', 'pair', first.recipe, second.recipe),
  );
  return {
    first: first.recipe,
    second: second.recipe,
    difference,
    interval: shared.length < 2 ? null : interval,
    seeds: shared.length,
  };
}
