/** Scores that compare the episodes of a group, added to what they earned. What was not judged is never a label. */

import type { Episode, Group } from '../core/episode.ts';
import { isTrainable } from '../core/stop.ts';
import { chainOf } from '../core/trajectory.ts';
import { type CheckedScore, checkedGroupScores } from '../env/scores/group-scores.ts';
import type { World } from '../env/world.ts';
import { type AskModel, JUDGE, JudgeCalls } from './ask-judge.ts';
import { Boundary, EpisodeEnd } from './boundary.ts';
import type { EpisodeOptions } from './episode.ts';

export type ScoringOptions = Pick<EpisodeOptions, 'turnTimeoutMs' | 'signal' | 'watch'> & {
  /** Of a world, what scoring needs of it. */
  readonly world: Pick<World, 'name' | 'roles' | 'scoreGroup' | 'agent'>;
  /** Groups that are scored at once. */
  readonly concurrency: number;
  /** Asks models elsewhere for scores; without it, a score that asks one fails. */
  readonly askModel?: AskModel;
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
  { world, turnTimeoutMs, signal, watch, askModel }: ScoringOptions,
): Promise<Group> {
  const judged = group.members.filter(({ stop }) => isTrainable(stop));
  if (judged.length === 0) return group;
  // Copies, since what is judged is a stranger's to read.
  const shown = judged.map((episode) => structuredClone({ ...episode, ...chainOf(group, episode) }));
  const boundary = new Boundary(signal, watch);
  const judge = new JudgeCalls(world, askModel);
  const what = `scoring group ${group.step}/${group.group} of ${world.name}`;
  let after: (episode: Episode, index: number) => Episode;
  try {
    const given = await boundary.step(
      'grader',
      what,
      turnTimeoutMs,
      async (aborted) => ({
        scores: await world.scoreGroup!(shown, {
          signal: aborted,
          ask: (model, messages) => judge.ask(model, messages, aborted),
        }),
      }),
      false,
    );
    const scores = boundary.call('grader', what, () =>
      checkedGroupScores(
        given.scores,
        judged.map((episode) => chainOf(group, episode)),
        world.name,
        world.roles,
      ),
    );
    await boundary.settled();
    const by = judge.any ? JUDGE : 'group';
    after = (episode, index) => withScore(episode, by, scores[index]!);
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
      if (index < 0) return episode;
      const scored = after(episode, index);
      // Its questions are about all of them, and stand in the first.
      if (index > 0 || !judge.any) return scored;
      const { calls } = chainOf(group, episode);
      return { ...scored, calls: [...scored.calls, ...judge.calls(episode.key, calls, endOf(episode))] };
    }),
  };
}

/** When an episode was over, on the clock of its calls. */
function endOf({ calls, transitions }: Episode): number {
  const ends = [
    ...calls.map(({ at, waitMs, policyMs }) => at + waitMs + policyMs),
    ...transitions.map(({ at, environmentMs }) => at + environmentMs),
  ];
  return ends.reduce((latest, end) => Math.max(latest, end), 0);
}

function withScore(episode: Episode, by: string, score: CheckedScore): Episode {
  const { rewards } = score;
  const outcome = Object.entries(episode.outcome).map(([role, earned]) => [
    role,
    earned + (rewards[role] ?? 0),
  ]);
  return {
    ...episode,
    scores: [...(episode.scores ?? []), { by, ...score }],
    outcome: Object.fromEntries(outcome),
  };
}
