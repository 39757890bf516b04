import { describe, expect, test } from 'vitest';
import { Rng } from '../core/rng.ts';
import {
  type Aggregate,
  interquartileMean,
  meanScore,
  medianScore,
  optimalityGap,
  performanceProfile,
  probabilityOfImprovement,
  stratifiedDifference,
  stratifiedInterval,
} from './aggregate.ts';
import { breakEven, collapseBound, collapsed, mcNemar } from './collapse.ts';
import { chiSquareQuantile, logGamma, normalQuantile, tCritical } from './distributions.ts';
import { benjaminiHochberg, holm, holmLevels } from './multiplicity.ts';
import { seedsNeeded, upperSd } from './sample-size.ts';
import { expectInterval, expectNear, numbers } from './testing/numbers.test-helper.ts';

test('quantiles, where they have closed forms', () => {
  expectNear(normalQuantile(0.975), 1.959963984540054);
  for (const alpha of [0.5, 0.05, 0.005]) {
    expectNear(tCritical(alpha, 1) * Math.tan((Math.PI * alpha) / 2), 1);
    expectNear(tCritical(alpha, 2), (1 - alpha) * Math.sqrt(2 / (alpha * (2 - alpha))), 1e-11);
    expectNear(chiSquareQuantile(1 - alpha, 2), -2 * Math.log(alpha), 1e-11);
  }
  expectNear(logGamma(0.5), Math.log(Math.PI) / 2);
  expectNear(logGamma(11), Math.log(3628800));
});

describe('many claims', () => {
  interface Family {
    readonly family10: {
      readonly p: Readonly<Record<string, number>>;
      readonly adjusted: Readonly<Record<string, readonly number[]>>;
    };
    readonly ties: {
      readonly p: readonly number[];
      readonly holm: readonly number[];
      readonly benjaminiHochberg: readonly number[];
    };
  }
  const { family10, ties } = numbers<Family>('multiplicity.json');
  const ps = Object.values(family10.p);

  test('Holm and Benjamini-Hochberg, against statsmodels', () => {
    for (const [method, adjust] of Object.entries({ holm, benjaminiHochberg })) {
      for (const [index, value] of adjust(ps).entries()) {
        expectNear(value, family10.adjusted[method]![index]!, 1e-9);
      }
    }
    for (const [index, value] of holm(ties.p).entries()) expectNear(value, ties.holm[index]!);
    for (const [index, value] of benjaminiHochberg(ties.p).entries())
      expectNear(value, ties.benjaminiHochberg[index]!);
  });

  test('the order does not matter, and levels agree with adjusted p-values while those before stand', () => {
    const shuffled = Rng.of('holm').shuffle(ps.map((_, index) => index));
    const adjusted = holm(shuffled.map((index) => ps[index]!));
    for (const [place, index] of shuffled.entries()) expectNear(adjusted[place]!, holm(ps)[index]!);
    expect(ps.map((p, index) => p <= holmLevels(ps)[index]!)).toEqual(holm(ps).map((p) => p <= 0.05));
    expect(holm([])).toEqual([]);
  });
});

describe('interquartile mean', () => {
  test('cuts whole values, against scipy trim_mean', () => {
    const { cases } = numbers<{ cases: { values: number[]; iqm: number }[] }>('iqm-edge.json');
    for (const { values, iqm } of cases) expectNear(interquartileMean(values.map((value) => [value])), iqm);
  });
});

describe('rliable 1.2.0', () => {
  type Table = Readonly<Record<string, Readonly<Record<string, number>>>>;
  type Intervals = Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>;
  interface Numbers {
    readonly scores: Readonly<Record<string, readonly (readonly number[])[]>>;
    readonly point: Table;
    readonly interval95: Intervals;
    readonly intervalTolerance: Intervals;
    readonly probabilityOfImprovement: Readonly<
      Record<
        string,
        {
          readonly point: number;
          readonly perTask: readonly number[];
          readonly interval95: readonly number[];
          readonly tolerance: number;
        }
      >
    >;
    readonly tau: readonly number[];
    readonly profile: Readonly<Record<string, readonly number[]>>;
    readonly averageProfile: Readonly<Record<string, readonly number[]>>;
    readonly differences: Readonly<
      Record<
        string,
        {
          readonly iqmDifference: number;
          readonly pairedStratified95: readonly number[];
          readonly unpairedStratified95: readonly number[];
          readonly toleranceOfIntervals: number;
        }
      >
    >;
  }
  const data = numbers<Numbers>('rliable-3x4x10.json');
  const aggregates: Readonly<Record<string, Aggregate>> = {
    mean: meanScore,
    median: medianScore,
    iqm: interquartileMean,
    optimality_gap: optimalityGap,
  };

  test.each(Object.keys(data.scores))('aggregates of %s', (name) => {
    const scores = data.scores[name]!;
    for (const [figure, aggregate] of Object.entries(aggregates)) {
      expectNear(aggregate(scores), data.point[name]![figure]!);
      expectInterval(
        stratifiedInterval(scores, aggregate, Rng.of('rliable', name, figure), 10_000),
        data.interval95[name]![figure]!,
        data.intervalTolerance[name]![figure]!,
      );
    }
    expect(performanceProfile(scores, data.tau)).toEqual(data.profile[name]);
    const means = scores[0]!.map((_, task) => [
      scores.reduce((sum, row) => sum + row[task]!, 0) / scores.length,
    ]);
    expect(performanceProfile(means, data.tau)).toEqual(data.averageProfile[name]);
  });

  test.each(Object.entries(data.probabilityOfImprovement))('P(%s)', (pair, expected) => {
    const [x, y] = pair.split('>').map((name) => data.scores[name]!) as [number[][], number[][]];
    expectNear(probabilityOfImprovement(x, y), expected.point);
    const interval = stratifiedDifference(x, y, probabilityOfImprovement, Rng.of(pair), {
      paired: false,
      resamples: 4000,
    });
    expectInterval(interval, expected.interval95, expected.tolerance);
    expect(probabilityOfImprovement(x, x)).toBe(0.5);
  });

  test.each(Object.entries(data.differences))('difference of interquartile means, %s', (pair, expected) => {
    const [x, y] = pair.split('-').map((name) => data.scores[name]!) as [number[][], number[][]];
    const figure = (a: readonly (readonly number[])[], b: readonly (readonly number[])[]): number =>
      interquartileMean(a) - interquartileMean(b);
    expectNear(figure(x, y), expected.iqmDifference);
    for (const [paired, ends] of [
      [true, expected.pairedStratified95],
      [false, expected.unpairedStratified95],
    ] as const) {
      const interval = stratifiedDifference(x, y, figure, Rng.of(pair, String(paired)), {
        paired,
        resamples: 10_000,
      });
      expectInterval(interval, ends, expected.toleranceOfIntervals);
    }
  });
});

describe('seeds needed', () => {
  test('against the noncentral t and the formula', () => {
    const { table } = numbers<{ table: { sd: number; n80: number[]; formula: number[] }[] }>('power.json');
    for (const { sd, n80, formula } of table) {
      for (const [index, difference] of [0.02, 0.05, 0.1].entries()) {
        const seeds = seedsNeeded({ sd, difference });
        expectNear(seeds, formula[index]!, 0.05);
        if (n80[index]! >= 8) expect(Math.abs(Math.ceil(seeds) - n80[index]!)).toBeLessThanOrEqual(1);
      }
    }
  });

  test('the spread of ten seeds may be 1.29 times as large', () => {
    expect(upperSd(1, 10)).toBeCloseTo(1.29, 2);
  });
});

describe('collapses', () => {
  test('what seeds without a collapse leave possible', () => {
    const bounds = [5, 10, 15, 20, 30].map((seeds) => Number(collapseBound(seeds).toFixed(2)));
    expect(bounds).toEqual([0.45, 0.26, 0.18, 0.14, 0.1]);
  });

  test('the rate at which a lead is gone', () => {
    expect(breakEven(0.1, 0.9, 0.4)).toBeCloseTo(0.2, 12);
    expect(breakEven(0.1, 0.4, 0.4)).toBeUndefined();
  });

  test('exact McNemar', () => {
    expect([mcNemar(5, 0), mcNemar(0, 6), mcNemar(0, 0), mcNemar(3, 3)]).toEqual([0.0625, 0.03125, 1, 1]);
  });

  test('a run collapsed when it ends a quarter below its peak, beyond the noise of its evaluation', () => {
    const curve = (...values: number[]) => values.map((value, spent) => ({ spent, value, episodes: 200 }));
    expect(collapsed(curve(0.4, 0.9, 0.6))).toBe(true);
    expect(collapsed(curve(0.4, 0.9, 0.7))).toBe(false);
    // It came back.
    expect(collapsed(curve(0.4, 0.9, 0.6, 0.9))).toBe(false);
    // A third of the peak, and yet within the noise of 20 episodes.
    expect(collapsed(curve(0.1, 0.15, 0.1).map((point) => ({ ...point, episodes: 20 })))).toBe(false);
    expect(collapsed([])).toBe(false);
  });
});
