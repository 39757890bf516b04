/** What an environment's scripted expert does in the tasks of a step. */

import { type RoleGroup, roleGroups, type Trajectory } from '../../core/trajectory.ts';
import { scriptedPolicy } from '../../policy/scripted.ts';
import { collectGroups } from '../../rollout/collect.ts';
import { asTrained } from '../../synth/demonstrations.ts';
import { type Learner, playOptions } from '../kit/learner.ts';

/**
 * An expert's episode of each group's task, from the same start. Its actions count as sampled, since they are learned from.
 * These episodes are demonstrations, and are not counted among those that the policy played.
 */
export async function playExpert(
  learner: Learner,
  groups: readonly RoleGroup[],
): Promise<ReadonlyMap<string, Trajectory>> {
  const { world, renderer } = learner;
  const requests = groups.map(({ group: { step, group }, members }) => {
    const { key, task } = members[0]!.episode;
    return { step, group, split: key.split, index: key.task as number, task, members: 1 };
  });
  const played = await collectGroups(requests, {
    ...playOptions(learner, new AbortController().signal),
    policy: scriptedPolicy(world, { player: () => 'expert', randomRate: 0, renderer }),
  });
  const recorded = roleGroups(played.map((group) => ({ ...group, members: group.members.map(asTrained) })));
  return new Map(recorded.map(({ id, members }) => [id, members[0]!]));
}
