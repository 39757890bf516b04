/** What an environment's scripted expert does in the tasks of a step. */

import { TurnwiseError } from '../../core/errors.ts';
import { isTrainable } from '../../core/stop.ts';
import { type RoleGroup, roleGroups, type Trajectory } from '../../core/trajectory.ts';
import type { Policy } from '../../policy/policy.ts';
import { scriptedPolicy } from '../../policy/scripted.ts';
import { collectGroups } from '../../rollout/collect.ts';
import { demonstratedRules } from '../../rollout/turns/turn-control.ts';
import { asTrained } from '../../synth/demonstrations.ts';
import { type Learner, playOptions } from '../kit/learner.ts';

/**
 * An expert's episode of each group's task, from the same start, where it came to a proper end. Its actions count as sampled,
 * since they are learned from. These episodes are demonstrations, and are not counted among those that the policy played.
 *
 * @throws TurnwiseError `cancelled` where `signal`, the run's, is aborted
 */
export async function playExpert(
  learner: Learner,
  groups: readonly RoleGroup[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Trajectory>> {
  const { world, renderer } = learner;
  const requests = groups.map(({ group: { step, group }, members }) => {
    const { key, task } = members[0]!.episode;
    return { step, group, split: key.split, index: key.task as number, task, members: 1 };
  });
  const options = playOptions(learner, signal);
  const turns = demonstratedRules(learner.turns, { seed: learner.config.seed, usual: options.maxTurns });
  const played = await collectGroups(requests, {
    ...options,
    // Under the control that the policy plays under, or their outcomes could not be compared.
    ...(turns && { turns }),
    policy: withoutEnd(scriptedPolicy(world, { player: () => 'expert', randomRate: 0, renderer })),
  });
  const recorded = roleGroups(
    played.map((group) => ({
      ...group,
      members: group.members.filter(({ stop }) => isTrainable(stop)).map(asTrained),
    })),
  );
  return new Map(recorded.flatMap(({ id, members: [expert] }) => (expert ? [[id, expert]] : [])));
}

/** An expert that does not know what to do in one place ends its episode there, and not the run. */
function withoutEnd(policy: Policy): Policy {
  return {
    ...policy,
    complete: async (request) => {
      try {
        return await policy.complete(request);
      } catch (error) {
        if (TurnwiseError.isInstance(error) && error.code === 'no-script') throw new Error(error.message);
        throw error;
      }
    },
  };
}
