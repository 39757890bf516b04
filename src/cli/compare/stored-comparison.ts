/** A comparison for the viewer: the numbers and the words of the report, without the runs. */

import { summaryOf } from '../../compare/arm-summary.ts';
import { type Comparison, type PairResult, profileThresholds } from '../../compare/results.ts';
import type { ArmResult, WorldResult } from '../../compare/world-results.ts';
import type { StoredArm, StoredComparison, StoredPair, StoredWorld } from '../../view/comparison.ts';
import { bandOf, curvesOf, shownInterval } from './bands.ts';
import { tasksOf } from './comparison-text.ts';
import {
  axisNames,
  differenceText,
  formatP,
  metricFormat,
  metricTitle,
  quantityTitle,
  winsText,
} from './figures.ts';
import { conclusion } from './report-page.ts';

const points = 60;

export function storedComparison(comparison: Comparison): StoredComparison {
  const { name, worlds, pairs, overall, improvement } = comparison;
  return {
    version: 1,
    name,
    time: new Date().toISOString(),
    conclusion: conclusion(comparison),
    worlds: worlds.map(storedWorld),
    pairs: pairs.map((pair) => storedPair(pair, worlds)),
    overall,
    thresholds: profileThresholds,
    improvement,
  };
}

function storedWorld(world: WorldResult): StoredWorld {
  const { reading, arms } = world;
  return {
    world: world.world,
    title: quantityTitle(reading.quantity, tasksOf(world)),
    axis: axisNames[reading.axis],
    isShare: reading.quantity === 'success',
    arms: arms.map((arm) => storedArm(arm, world)),
  };
}

function storedArm(arm: ArmResult, { reading }: WorldResult): StoredArm {
  const summary = summaryOf(arm, reading);
  const band = bandOf(curvesOf(arm, reading, reading.axis), points, reading.end);
  return {
    arm: arm.rate === undefined ? arm.arm : `${arm.arm} at ${arm.rate}`,
    seeds: arm.seeds.length,
    counted: summary?.counted ?? 0,
    ...(summary && {
      figures: {
        warm: summary.warm,
        final: summary.final,
        area: summary.area,
        collapses: summary.collapses,
        tokens: summary.spent.tokens,
        secondsPerStep: summary.secondsPerStep,
      },
    }),
    curve: band.map(({ spent, value, interval }) => ({ spent, value, ...interval })),
    finals: arm.seeds.flatMap(({ figures }) => (figures ? [figures.final] : [])),
  };
}

function storedPair(pair: PairResult, worlds: readonly WorldResult[]): StoredPair {
  const { first, second, metric, world, comparison, adjusted } = pair;
  const overWorlds = world === undefined;
  const { reading } = worlds.find((one) => one.world === world) ?? worlds[0]!;
  const interval = shownInterval(comparison);
  return {
    first,
    second,
    metric: metricTitle(metric, reading, overWorlds),
    world: world ?? 'all worlds',
    mean: comparison.mean,
    ...(interval && { low: interval.low, high: interval.high }),
    text: differenceText(comparison, metricFormat(metric, reading.quantity, overWorlds)),
    p: formatP(adjusted),
    wins: winsText(comparison),
  };
}
