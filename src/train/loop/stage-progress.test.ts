import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Stage } from '../config/stages.ts';
import { lastSteps, stageOf } from '../config/stages.ts';
import { measuredIn, type StageProgress, stageProgress, unmeasuredStage } from './stage-progress.ts';

const until = (condition: object): Stage['until'] => ({ gain: 0, over: 1, ...condition });
const stagesOf = (...untils: Stage['until'][]): Stage[] =>
  untils.map((one) => ({ set: {}, ...(one !== undefined && { until: one }) }));

/** The stage of each step, from 1, when the metric has these values; and what is known after the last. */
function played(stages: readonly Stage[], values: readonly (number | undefined)[], resumeAt = -1) {
  let progress: StageProgress | undefined;
  const seen = values.map((value, index) => {
    if (index === resumeAt) progress = JSON.parse(JSON.stringify(progress ?? null)) ?? undefined;
    const stage = stageOf(stages, index + 1, progress?.ends);
    progress = stageProgress(
      { stages: [...stages] },
      progress,
      index + 1,
      value === undefined ? {} : { m: value },
    );
    return stage;
  });
  return { seen, progress };
}

describe('a measured stage', () => {
  test('ends with the step whose metric is high, or low, enough', () => {
    const high = stagesOf(until({ metric: 'm', least: 0.5 }), undefined);
    expect(played(high, [0.1, 0.4, 0.5, 0, 0]).seen).toEqual([0, 0, 0, 1, 1]);
    expect(played(high, [0.1, 0.4, 0.5]).progress?.ends).toEqual([3, null]);
    const low = stagesOf(until({ metric: 'm', most: 0.5 }));
    expect(played(low, [0.9, 0.6, 0.5, 9]).seen).toEqual([0, 0, 0, -1]);
  });

  test('ends by the mean of its last measurements, once there are so many', () => {
    // Means of two: .5, .45, .6; the first value alone would end it.
    const two = stagesOf(until({ metric: 'm', least: 0.55, over: 2 }));
    expect(played(two, [0.8, 0.2, 0.7, 0.5, 0]).seen).toEqual([0, 0, 0, 0, -1]);
  });

  test('ends on a plateau: so many measurements without a gain over the best', () => {
    // The best is .3, then .5; .52 and .54 are no gains of more than .05.
    const plateau = stagesOf(until({ metric: 'm', plateau: 3, gain: 0.05 }));
    expect(played(plateau, [0.3, 0.31, 0.5, 0.52, 0.54, 0.4, 0, 0]).seen).toEqual([0, 0, 0, 0, 0, 0, -1, -1]);
    // Slow progress adds up: .56 is a gain over .5.
    expect(played(plateau, [0.5, 0.53, 0.56, 0.57, 0.58, 0.59, 0]).seen).toEqual([0, 0, 0, 0, 0, 0, -1]);
  });

  test('waits through steps that measure nothing, and takes no measurement of another stage', () => {
    const each = stagesOf(until({ metric: 'm', plateau: 2 }), until({ metric: 'm', plateau: 2 }));
    expect(played(each, [5, undefined, 4, undefined, 3, 1, 1, 1, 0]).seen).toEqual([
      0, 0, 0, 0, 0, 1, 1, 1, -1,
    ]);
  });

  test('has most steps, and a number of steps counts from its beginning', () => {
    const list = stagesOf(until({ metric: 'm', least: 1, steps: 4 }), until({ steps: 2 }), 8, undefined);
    expect(played(list, [0, 1, 0, 0, 0, 0, 0, 0, 0]).seen).toEqual([0, 0, 1, 1, 2, 2, 2, 2, 3]);
    expect(played(list, [0, 0, 0, 0, 0, 0, 0, 0, 0]).seen).toEqual([0, 0, 0, 0, 1, 1, 2, 2, 3]);
    expect(lastSteps(list)).toEqual([4, 6, 8, Number.POSITIVE_INFINITY]);
    // A stage whose number has gone by is left out.
    const late = stagesOf(until({ metric: 'm', least: 1 }), 3, undefined);
    expect(played(late, [0, 0, 0, 1, 0]).seen).toEqual([0, 0, 0, 0, 2]);
  });

  test('goes on from a checkpoint as if nothing had been', () => {
    const condition = fc.oneof(
      fc.record({ least: fc.double({ min: 0, max: 1, noNaN: true }), over: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ plateau: fc.integer({ min: 1, max: 3 }), gain: fc.constantFrom(0, 0.1) }),
      fc.record({ least: fc.constant(2), steps: fc.integer({ min: 1, max: 4 }) }),
    );
    const values = fc.array(fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }), {
      minLength: 1,
      maxLength: 20,
    });
    fc.assert(
      fc.property(
        fc.array(condition, { minLength: 1, maxLength: 3 }),
        values,
        fc.nat(),
        (conditions, seen, cut) => {
          const stages = stagesOf(...conditions.map((one) => until({ metric: 'm', ...one })));
          expect(played(stages, seen, cut % seen.length)).toEqual(played(stages, seen));
          // Stages follow each other.
          const order = played(stages, seen).seen.map((stage) => (stage === -1 ? stages.length : stage));
          expect(order).toEqual([...order].sort((a, b) => a - b));
        },
      ),
    );
  });
});

test('runs whose stages follow from the number of the step keep nothing', () => {
  expect(stageProgress({ stages: stagesOf(4, until({ steps: 3 })) }, undefined, 1, { m: 1 })).toBeUndefined();
});

test('evaluations are measured beside the metrics of the step', () => {
  const way = { success: 0.5, return: 2, turns: 7 };
  const event = { type: 'evaluation', sampled: way, greedy: { ...way, success: 0.9 } } as never;
  expect(measuredIn({ 'reward/mean': 1 }, [event])).toEqual({
    'reward/mean': 1,
    'evaluation/success': 0.5,
    'evaluation/return': 2,
    'evaluation/turns': 7,
    'evaluation/greedy/success': 0.9,
    'evaluation/greedy/return': 2,
    'evaluation/greedy/turns': 7,
  });
  expect(measuredIn({ 'reward/mean': 1 }, [])).toEqual({ 'reward/mean': 1 });
});

test('a stage that waits for what is not measured is warned of once', () => {
  const stages = stagesOf(1, until({ metric: 'reward/meen', least: 1 }));
  const warned = (step: number) => unmeasuredStage({ stages }, [], step, { 'reward/mean': 0 });
  expect([1, 2, 3].map((step) => warned(step).length)).toEqual([0, 1, 0]);
  expect(warned(2)).toMatchObject([
    {
      code: 'stage-unmeasured',
      message:
        'step 2: stage 2 waits for reward/meen, and the step has no such metric; if no later step has it, the stage never ends',
    },
  ]);
});
