/** Scores that compare the episodes of a group, added to what they earned. What was not judged is never a label. */

import type { ByRole, Episode, Group } from '../core/episode.ts';
import { isTrainable } from '../core/stop.ts';
import { chainOf } from '../core/trajectory.ts';
import { checkedGroupScores } from '../env/scores/group-scores.ts';
import { Boundary, EpisodeEnd } from './boundary.ts';
import type { EpisodeOptions } from './episode.ts';

export type ScoringOptions = Pick<EpisodeOptions, 'world' | 'turnTimeoutMs' | 'signal' | 'watch'> & {
  /** Groups that are scored at once. */
  readonly concurrency: number;
};

/**
 * The groups with the scores of their world's `scoreGroup`, where it has one: each in `scores` of its episode, and in its outcome.
 * Where it fails or takes too long, the episodes of the group end as `failed:grader` or `timeout`.
 */
export async function scoreGroups(
  groups: readonly Group[],
  options: ScoringOptions,
): Promise<readonly Group[]> {
  if (!options.world.scoreGroup) return groups;
  const scored = [...groups];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < groups.length; index = next++) {
      scored[index] = await scoreGroup(groups[index]!, options);
    }
  };
  await Promise.all(Array.from({ length: Math.min(options.concurrency, groups.length) }, worker));
  return scored;
}

async function scoreGroup(
  group: Group,
  { world, turnTimeoutMs, signal, watch }: ScoringOptions,
): Promise<Group> {
  const judged = group.members.filter(({ stop }) => isTrainable(stop));
  if (judged.length === 0) return group;
  // Copies, since what is judged is a stranger's to read.
  const shown = judged.map((episode) => structuredClone({ ...episode, ...chainOf(group, episode) }));
  const boundary = new Boundary(signal, watch);
  const what = `scoring group ${group.step}/${group.group} of ${world.name}`;
  let after: (episode: Episode, index: number) => Episode;
  try {
    const given = await boundary.step(
      'grader',
      what,
      turnTimeoutMs,
      async (aborted) => ({ scores: await world.scoreGroup!(shown, { signal: aborted }) }),
      false,
    );
    const scores = boundary.call('grader', what, () =>
      checkedGroupScores(given.scores, judged.length, world.name, world.roles),
    );
    await boundary.settled();
    after = (episode, index) => withScore(episode, scores[index]!);
  } catch (error) {
    if (!(error instanceof EpisodeEnd)) throw error;
    after = (episode) => ({ ...episode, stop: error.stop, failure: error.message });
  } finally {
    boundary.close();
  }
  return {
    ...group,
    members: group.members.map((episode) => {
      const index = judged.indexOf(episode);
      return index < 0 ? episode : after(episode, index);
    }),
  };
}

function withScore(episode: Episode, rewards: ByRole<number>): Episode {
  const outcome = Object.entries(episode.outcome).map(([role, earned]) => [
    role,
    earned + (rewards[role] ?? 0),
  ]);
  return {
    ...episode,
    scores: [...(episode.scores ?? []), { by: 'group', rewards }],
    outcome: Object.fromEntries(outcome),
  };
}
