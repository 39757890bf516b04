/** Placebos of credit methods: what they read of each turn is dealt out anew to the turns of its group. */

import { Rng } from 'turnwise';
import { type CreditMethod, defineCreditMethod, findCreditMethod, z } from 'turnwise/credit';

interface Placebo {
  readonly name: string;
  readonly summary: string;
  /** The method, with its options, and the field of turns that is dealt. */
  readonly of: string;
  readonly options?: object;
  readonly field: 'anchor' | 'dense';
}

/** How many turns have each value stays as it is; which ones is drawn anew at every step. */
export function placebo({ name, summary, of, options = {}, field }: Placebo): CreditMethod {
  const { credit } = findCreditMethod(of).create(options);
  return defineCreditMethod(
    { name, summary, needs: [`turns[].${field}`] },
    z.strictObject({}),
    () => (trajectories, state) => {
      const steps = typeof state.steps === 'number' ? state.steps : 0;
      const rng = Rng.of(name, steps);
      const groups = new Set(trajectories.map(({ groupId }) => groupId));
      const decks = new Map(
        [...groups].map((group) => {
          const own = trajectories.filter(({ groupId }) => groupId === group);
          return [group, rng.shuffle(own.flatMap(({ turns }) => turns.map((turn) => turn[field])))] as const;
        }),
      );
      const dealt = trajectories.map((trajectory) => ({
        ...trajectory,
        turns: trajectory.turns.map((turn) => {
          const value = decks.get(trajectory.groupId)!.pop();
          return value === undefined ? turn : { ...turn, [field]: value };
        }),
      }));
      return { credits: credit(dealt, {}).credits, state: { steps: steps + 1 } };
    },
  );
}
