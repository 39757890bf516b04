/** What came of it where another action was taken at the same place: branches are each other's counterfactuals. */

import type { TurnFacts } from '../../core/facts.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import type { FoundFacts } from './turn-facts.ts';

/**
 * `counterfactual` of a turn: the mean outcome of the episodes of its group that went on from the same place with another
 * action. A turn has none where no other episode did.
 *
 * @example
 * // An episode took "left" and won 1; a branch from before that turn took "right" and won 0. The counterfactual of "left" is
 * // 0, and that of "right" is 1.
 * defineRecipe({ name: 'twins', act: () => resetToTurnExplorer, turnFacts: counterfactuals, settings: { credit: { method: 'earl' } } });
 */
export const counterfactuals: FoundFacts = {
  fields: ['turns[].counterfactual'],
  async find(_trainer, trajectories) {
    const known = new Map(trajectories.map((trajectory) => [trajectory.id, trajectory]));
    const placeOf = ({ id }: Trajectory, turn: number) => `${playerOf(id, turn, known)} ${turn}`;
    const met = new Map<string, Trajectory[]>();
    for (const trajectory of trajectories) {
      for (const turn of trajectory.turns.keys()) {
        const place = placeOf(trajectory, turn);
        met.set(place, [...(met.get(place) ?? []), trajectory]);
      }
    }
    return trajectories.map((trajectory) =>
      trajectory.turns.map((_, turn): TurnFacts => {
        const others = elsewhere(trajectory, met.get(placeOf(trajectory, turn)) ?? [], turn);
        if (others.length === 0) return {};
        return { counterfactual: others.reduce((sum, { outcome }) => sum + outcome, 0) / others.length };
      }),
    );
  },
};

/** The trajectory that played the way to a turn itself: branches share what came before them with their origin. */
function playerOf(id: string, turn: number, known: ReadonlyMap<string, Trajectory>): string {
  const { parent, sharedTurns = 0 } = known.get(id) ?? {};
  return parent !== undefined && sharedTurns >= turn ? playerOf(parent, turn, known) : id;
}

/** Those that took another action in this turn. */
function elsewhere(one: Trajectory, met: readonly Trajectory[], turn: number): readonly Trajectory[] {
  const actionOf = ({ turns }: Trajectory) => turns[turn]?.transition?.action;
  const own = actionOf(one);
  return met.filter((other) => {
    const action = actionOf(other);
    return action !== undefined && action !== own;
  });
}
