/** Rollouts that branched from one another: which of their turns are one and the same. */

import { TurnwiseError } from '../../../core/errors.ts';
import { groupKey } from '../../kit/groups.ts';
import { turnStarts } from '../../kit/turns.ts';
import type { Partition } from '../../kit/within.ts';
import type { CreditTrajectory } from '../../report/rollouts.ts';

/**
 * Turns that trajectories share, because one branched from the other after them, are in the same part. A parent that is
 * not in the batch (it may have failed) still joins the branches that name it.
 */
export function sharedTurns(trajectories: readonly CreditTrajectory[]): Partition {
  const starts = turnStarts(trajectories);
  const total = starts[trajectories.length]!;
  const parents = parentsOf(trajectories);
  const absent = new Map<string, number>();
  const keys = new Int32Array(total);
  const ownerOf = (start: number, k: number): number => {
    let index = start;
    for (let hops = 0; hops <= trajectories.length; hops++) {
      const trajectory = trajectories[index]!;
      const { parent, sharedTurns: shared = 0 } = trajectory;
      if (parent === undefined || k >= shared) return starts[index]! + k;
      const next = parents[index]!;
      if (next < 0 || k >= trajectories[next]!.turns.length) {
        const turn = JSON.stringify([placeKey(trajectory, parent), k]);
        const known = absent.get(turn) ?? total + absent.size;
        absent.set(turn, known);
        return known;
      }
      index = next;
    }
    throw cycle(trajectories[start]!);
  };
  for (const [index, { turns }] of trajectories.entries()) {
    for (let k = 0; k < turns.length; k++) keys[starts[index]! + k] = ownerOf(index, k);
  }
  return { keys, count: total + absent.size };
}

/** The trajectory that each one goes back to, as its index; its own where it did not branch or its parent is absent. */
export function rootsOf(trajectories: readonly CreditTrajectory[]): number[] {
  const parents = parentsOf(trajectories);
  return trajectories.map((trajectory, start) => {
    let index = start;
    for (let hops = 0; hops <= trajectories.length; hops++) {
      if (parents[index]! < 0) return index;
      index = parents[index]!;
    }
    throw cycle(trajectory);
  });
}

/** Index of each one's parent; -1 without one in the batch. */
function parentsOf(trajectories: readonly CreditTrajectory[]): Int32Array {
  const places = new Map<string, number>();
  for (const [index, trajectory] of trajectories.entries())
    places.set(placeKey(trajectory, trajectory.id), index);
  return Int32Array.from(trajectories, (trajectory) => {
    const { parent } = trajectory;
    return parent === undefined ? -1 : (places.get(placeKey(trajectory, parent)) ?? -1);
  });
}

function placeKey(trajectory: CreditTrajectory, id: string): string {
  return JSON.stringify([groupKey(trajectory), id]);
}

function cycle({ id, parent }: CreditTrajectory): TurnwiseError {
  return new TurnwiseError('credit-branch-cycle', {
    what: `Trajectory "${id}" branched from itself, by way of its parents`,
    seen: `parent "${parent}"`,
    allowed: 'parents that lead to a trajectory without one',
    fields: { trajectory: id },
  });
}
