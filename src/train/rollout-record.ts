/** One stored episode: everything that was seen, sampled, earned and credited. The file format of docs/rollouts.md. */

import type { Trajectory } from '../core/trajectory.ts';
import type { CreditTrajectory, TrajectoryCredit } from '../credit/rollouts.ts';

export interface Credited {
  readonly credit: TrajectoryCredit;
  readonly input: CreditTrajectory;
}

/** Plain JSON; `turnwise credit --rollouts` reads it back. */
export function rolloutRecord(trajectory: Trajectory, credited?: Credited): object {
  const { id, groupId, role, outcome, success, stop, failure, policyVersion, turns, parent, sharedTurns } =
    trajectory;
  return {
    id,
    groupId,
    role,
    outcome,
    success,
    stop,
    ...(failure === undefined ? {} : { failure }),
    ...(parent === undefined ? {} : { parent, sharedTurns }),
    policyVersion,
    turns: turns.map((turn, index) => {
      const { contextIds, extendsPrevious, ids, logprobs, policyMs, environmentMs, ...rest } = turn;
      const values = credited?.input.turns[index]?.values;
      const tokenAdvantages = credited?.credit.tokenAdvantages_K_T?.[index];
      return {
        ...rest,
        // What a script or an opponent wrote counts as no sampled token: credit goes to nobody for it.
        tokens: turn.sampled ? ids.length : 0,
        contextIds,
        extendsPrevious,
        ids,
        logprobs,
        ...(values ? { values } : {}),
        ...(credited ? { advantage: credited.credit.turnAdvantages_K[index] } : {}),
        ...(tokenAdvantages ? { tokenAdvantages } : {}),
        policyMs: Math.round(policyMs * 10) / 10,
        environmentMs: Math.round(environmentMs * 10) / 10,
      };
    }),
  };
}
