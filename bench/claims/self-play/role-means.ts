/** A rival: each seat against the plain running mean of everything that it ever earned. */

import { defineCreditMethod, z } from 'turnwise/credit';

export const roleMeans = defineCreditMethod(
  {
    name: 'role-means',
    summary: 'outcome minus the mean of all earlier outcomes of the seat',
    wholeSteps: true,
    needs: [],
    uses: ['role'],
  },
  z.strictObject({}),
  () => (trajectories, state) => {
    const sums: Record<string, readonly [sum: number, count: number]> = {};
    for (const [role, known] of Object.entries(state)) {
      if (Array.isArray(known)) sums[role] = [Number(known[0]), Number(known[1])];
    }
    const credits = trajectories.map(({ id, role, outcome, turns }) => {
      const [sum, count] = sums[role] ?? [0, 0];
      sums[role] = [sum + outcome, count + 1];
      const advantage = outcome - (count === 0 ? 0 : sum / count);
      return { id, turnAdvantages_K: turns.map(() => advantage) };
    });
    return { credits, state: sums };
  },
);
