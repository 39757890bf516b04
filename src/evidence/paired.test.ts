import { describe, expect, test } from 'vitest';
import { Rng } from '../core/rng.ts';

import { comparePaired, jointInterval, seedsToDecide, undecidable } from './paired.ts';
import { discordantVariance, evaluationVariance, pairedT } from './paired-t.ts';
import { signFlips } from './sign-flips.ts';
import { expectInterval, expectNear, numbers } from './testing/numbers.test-helper.ts';

interface Case {
  readonly a: readonly number[];
  readonly b: readonly number[];
  readonly mean: number;
  readonly pairedT: { readonly p: number; readonly interval: readonly number[] } | null;
  readonly evaluationVariance: number;
  readonly tWithFloor: { readonly sd: number; readonly interval: readonly number[] };
  readonly signFlip: { readonly p: number; readonly interval: readonly number[] | null };
  readonly wins: readonly number[];
}

const { cases } = numbers<{ readonly cases: Readonly<Record<string, Case>> }>('paired.json');
const rng = Rng.of('test');
const shares = (solved: readonly number[]) => solved.map((count) => ({ solved: count, episodes: 500 }));
const arm = (solved: readonly number[]) => ({
  values_S: solved.map((count) => count / 500),
  shares_S: shares(solved),
});
const compared = ({ a, b }: Case, alpha = 0.05) =>
  comparePaired([{ first: arm(a), second: arm(b) }], { alpha, rng });

describe.each(Object.entries(cases))('%s', (_, one) => {
  const { a, b } = one;
  const differences = a.map((solved, seed) => (solved - b[seed]!) / 500);

  test('paired t, with and without the floor of the evaluations', () => {
    const free = pairedT(differences);
    if (one.pairedT === null) expect(free).toMatchObject({ sd: 0, p: null, interval: null });
    else {
      expectNear(free.p!, one.pairedT.p);
      expectInterval(free.interval!, one.pairedT.interval);
    }
    const variance = evaluationVariance(shares(a), shares(b));
    expectNear(variance, one.evaluationVariance);
    const floored = pairedT(differences, variance);
    expectNear(floored.sd, one.tWithFloor.sd);
    expectInterval(floored.interval!, one.tWithFloor.interval);
  });

  test('exact sign flips', () => {
    const { p, interval } = signFlips(differences, { rng });
    expect(p).toBe(one.signFlip.p);
    if (one.signFlip.interval === null) {
      expect(interval).toEqual({ low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY });
    } else expectInterval(interval, one.signFlip.interval);
  });

  test('both together', () => {
    const { mean: difference, wins, ties, losses, p } = compared(one);
    expectNear(difference, one.mean);
    expect([wins, ties, losses]).toEqual(one.wins);
    expect(p).toBeGreaterThanOrEqual(one.signFlip.p);
  });
});

test('the interval is where the test stops rejecting', () => {
  for (const [name, { a, b }] of Object.entries(cases)) {
    const differences = a.map((solved, seed) => (solved - b[seed]!) / 500);
    const { interval } = signFlips(differences, { rng });
    if (!Number.isFinite(interval.low) || interval.low === interval.high) continue;
    const pAt = (theta: number): number =>
      signFlips(
        differences.map((d) => d - theta),
        { rng },
      ).p;
    for (const [end, outwards] of [
      [interval.low, -1],
      [interval.high, 1],
    ] as const) {
      expect(pAt(end + outwards * 1e-7), name).toBeLessThanOrEqual(0.05);
      expect(pAt(end - outwards * 1e-7), name).toBeGreaterThan(0.05);
    }
  }
});

test('drawn patterns agree with counted ones', () => {
  const draw = Rng.of('drawn');
  const differences = Array.from({ length: 20 }, () => 0.04 + 0.1 * draw.normal());
  const exact = signFlips(differences, { rng });
  // The same differences with one more that weighs nothing are too many to count.
  const drawn = signFlips([...differences, 0], {
    rng: Rng.of('flips'),
    weights: [...differences.map(() => 1), 0],
  });
  expectNear(drawn.p, exact.p, 0.003);
  expectInterval(drawn.interval, [exact.interval.low, exact.interval.high], 0.004);
});

test('a stricter level widens both intervals', () => {
  const [usual, strict] = [compared(cases.ordinary!), compared(cases.ordinary!, 0.005)].map(jointInterval);
  expect(strict!.low).toBeLessThan(usual!.low);
  expect(strict!.high).toBeGreaterThan(usual!.high);
});

test('few seeds, and few pairs that differ, decide nothing', () => {
  expect(undecidable(compared(cases['five seeds, all better']!))).toBe('5 seeds; a verdict takes 10');
  expect(undecidable(compared(cases['ceiling, one seed short']!))).toBe('fewer than 6 pairs differ');
  expect(undecidable(compared(cases.ordinary!))).toBeUndefined();
  expect(undecidable(compared(cases['ceiling, both']!))).toBeUndefined();
});

test('an undecided comparison says how many seeds it takes', () => {
  // s_d .3146 at n = 10: its upper 80% limit is 1.29 times that, for a difference of .1.
  expect(seedsToDecide(compared(cases['collapse in two seeds of the rival']!), 0.1)).toBe(132);
});

test('discordant tasks give a lower floor than independent ones', () => {
  const shared = discordantVariance([{ onlyFirst: 10, onlySecond: 5, tasks: 500 }]);
  expectNear(shared, (10.5 + 5.5 - 25 / 500) / 500 ** 2);
  const independent = evaluationVariance(shares([410]), shares([405]));
  expect(shared).toBeLessThan(independent);
});

interface Rliable {
  readonly scores: Readonly<Record<string, readonly (readonly number[])[]>>;
  readonly differences: Readonly<
    Record<
      string,
      {
        readonly meanDifference: number;
        readonly stratifiedSignFlipP: number;
        readonly toleranceOfP: number;
        readonly perTaskMeanDifference: readonly number[];
        readonly perTaskSignFlipP: readonly number[];
      }
    >
  >;
}

describe('several worlds', () => {
  const { scores, differences } = numbers<Rliable>('rliable-3x4x10.json');
  const world = (name: string, task: number) => arm(scores[name]!.map((row) => Math.round(500 * row[task]!)));

  test.each(Object.entries(differences))('%s: the mean over worlds decides', (pair, expected) => {
    const [first, second] = pair.split('-') as [string, string];
    const pairs = [0, 1, 2, 3].map((task) => ({ first: world(first, task), second: world(second, task) }));
    const result = comparePaired(pairs, { rng: Rng.of('worlds', pair) });
    expectNear(result.mean, expected.meanDifference);
    expectNear(result.flips.p, expected.stratifiedSignFlipP, expected.toleranceOfP);
    for (const [task, one] of pairs.entries()) {
      expectNear(result.means_W[task]!, expected.perTaskMeanDifference[task]!);
      expect(comparePaired([one], { rng }).flips.p).toBe(expected.perTaskSignFlipP[task]);
    }
    expect(result.guard.interval!.low).toBeLessThan(result.mean);
  });
});

test('equal arms are told apart no more often than promised, whatever the shape', () => {
  const draw = Rng.of('null');
  const collapsing = (): number => (draw.chance(0.2) ? 0.2 : 0.92) + 0.02 * draw.normal();
  const skewed = (): number => -0.05 * Math.log(1 - draw.next());
  for (const value of [collapsing, skewed, () => 0.1 * draw.normal()]) {
    let [flips, both] = [0, 0];
    const experiments = 1000;
    for (let experiment = 0; experiment < experiments; experiment++) {
      const differences = Array.from({ length: 10 }, () => value() - value());
      const { p } = signFlips(differences, { rng });
      if (p <= 0.05) flips++;
      if (p <= 0.05 && pairedT(differences).p! <= 0.05) both++;
    }
    // Four standard errors above 0.05.
    expect(flips / experiments).toBeLessThan(0.078);
    expect(both).toBeLessThanOrEqual(flips);
  }
});

test('a true difference is found as often as theory says', () => {
  const draw = Rng.of('power');
  // Of one standard deviation, with power 0.8 at ten seeds (power.json).
  let found = 0;
  for (let experiment = 0; experiment < 500; experiment++) {
    const differences = Array.from({ length: 10 }, () => 1 + draw.normal());
    if (signFlips(differences, { rng }).p <= 0.05) found++;
  }
  expect(found / 500).toBeGreaterThan(0.72);
});
