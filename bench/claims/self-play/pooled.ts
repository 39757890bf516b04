/** A rival: both seats have one moving baseline, so that the seat that tends to win is praised for it. */

import { defineCreditMethod, findCreditMethod, z } from 'turnwise/credit';

const { credit } = findCreditMethod('rae').create({});

export const pooled = defineCreditMethod(
  {
    name: 'pooled',
    summary: 'outcome minus a moving baseline of all seats together',
    wholeSteps: true,
    needs: [],
  },
  z.strictObject({}),
  () => (trajectories, state) =>
    credit(
      trajectories.map((trajectory) => ({ ...trajectory, role: 'any' })),
      state,
    ),
);
