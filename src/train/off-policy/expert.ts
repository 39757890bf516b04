/** What an environment's scripted expert does in the tasks of a step. */

import type { Group, Trajectory } from '../../core/trajectory.ts';
import { scriptedPolicy } from '../../policy/scripted.ts';
import { collectGroups } from '../../rollout/collect.ts';
import { type Learner, playOptions } from '../learner.ts';

/**
 * An expert's episode of each group's task, from the same start. Its actions count as sampled, since they are learned from.
 * These episodes are demonstrations, and are not counted among those that the policy played.
 */
export async function playExpert(
  learner: Learner,
  groups: readonly Group[],
): Promise<ReadonlyMap<string, Trajectory>> {
  const { world, renderer } = learner;
  const requests = groups.map(({ id, task }) => ({ id, task, members: 1 }));
  const played = await collectGroups(requests, {
    ...playOptions(learner, new AbortController().signal),
    policy: scriptedPolicy(world, { player: () => 'expert', randomRate: 0, renderer }),
  });
  return new Map(
    played.flatMap(({ id, members }) => members.map((episode) => [id, recorded(episode)] as const)),
  );
}

function recorded(episode: Trajectory): Trajectory {
  return { ...episode, turns: episode.turns.map((turn) => ({ ...turn, sampled: true })) };
}
