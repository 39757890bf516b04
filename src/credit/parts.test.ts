/** Which methods and shapings can learn a step in parts: those that compare within groups and remember nothing. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { creditMethods } from './methods.ts';
import type { Credit, CreditTrajectory } from './report/rollouts.ts';
import { composeCredit, rewardShapings } from './shaping/shapings.ts';
import { batch } from './testing/batches.test-helper.ts';

/** Whether some step has other advantages in parts, or leaves something to remember. */
function needsWholeSteps(credit: Credit): boolean {
  const sameInParts = (trajectories: readonly CreditTrajectory[]): void => {
    const whole = credit(trajectories, {});
    expect(whole.state).toEqual({});
    const groups = new Set(trajectories.map(({ groupId }) => groupId));
    const parts = [...groups].flatMap(
      (group) =>
        credit(
          trajectories.filter(({ groupId }) => groupId === group),
          {},
        ).credits,
    );
    for (const one of whole.credits) expect(parts.find(({ id }) => id === one.id)).toEqual(one);
  };
  return fc.check(fc.property(batch, sameInParts), { numRuns: 200 }).failed;
}

test.each(creditMethods)('$name', ({ create, wholeSteps }) => {
  expect(needsWholeSteps(create().credit)).toBe(wholeSteps === true);
});

test.each(rewardShapings)('shaping $name', ({ name, wholeSteps, wholeStepsIf, create }) => {
  const { credit } = composeCredit({ method: 'rloo', options: {}, shape: { [name]: {} } });
  expect(needsWholeSteps(credit)).toBe(wholeSteps ?? wholeStepsIf?.(create().options) ?? false);
});

test.each([{}, { scope: 'global' }, { scope: 'product' }, { steps: 4 }])(
  'shaping exploration-bonus with %j',
  (options) => {
    const { wholeStepsIf, create } = rewardShapings.find(({ name }) => name === 'exploration-bonus')!;
    const { credit } = composeCredit({
      ...{ method: 'rloo', options: {} },
      shape: { 'exploration-bonus': options },
    });
    expect(needsWholeSteps(credit)).toBe(wholeStepsIf!(create(options).options));
  },
);
