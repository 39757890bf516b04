/** One stored episode: everything that was seen, sampled, earned and credited. The file format of docs/rollouts.md. */

import { sampledTokens, type Trajectory } from '../core/trajectory.ts';
import type { CreditTrajectory, TrajectoryCredit } from '../credit/rollouts.ts';
import { cutIntoTurns } from '../credit/tokens.ts';

export interface Credited {
  readonly credit: TrajectoryCredit;
  readonly input: CreditTrajectory;
}

/** Plain JSON; `turnwise credit --rollouts` reads it back. */
export function rolloutRecord(trajectory: Trajectory, credited?: Credited): object {
  const { id, groupId, role, outcome, success, stop, failure, policyVersion, turns, parent, sharedTurns } =
    trajectory;
  const tokens_K = turns.map(sampledTokens);
  const tokenAdvantages_T = credited?.credit.tokenAdvantages_T;
  const tokenAdvantages = tokenAdvantages_T && cutIntoTurns(tokenAdvantages_T, tokens_K);
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
      return {
        ...rest,
        tokens: tokens_K[index],
        contextIds,
        extendsPrevious,
        ids,
        logprobs,
        ...(values ? { values } : {}),
        ...(credited ? { advantage: credited.credit.turnAdvantages_K[index] } : {}),
        ...(tokenAdvantages ? { tokenAdvantages: tokenAdvantages[index] } : {}),
        policyMs: Math.round(policyMs * 10) / 10,
        environmentMs: Math.round(environmentMs * 10) / 10,
      };
    }),
  };
}
