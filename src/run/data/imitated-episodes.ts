/** Which recorded episodes are imitated: those of roles that succeeded, unless all are asked for. */

import type { Episode, Group, Role } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { isTrained, trainedRoles } from '../../core/trajectory.ts';
import type { TrainConfig } from '../../train/config/config.ts';

type From = Pick<TrainConfig, 'clone'>;

/** @throws TurnwiseError `rollouts-missing` where nobody is said to have succeeded */
export function imitatedOf(groups: readonly Group[], { clone }: From, from: string): readonly Group[] {
  if (clone.from === 'all') return groups;
  const chosen = withRoles(groups, succeeded);
  if (chosen.length > 0) return chosen;
  throw new TurnwiseError('rollouts-missing', {
    what: `No episode of ${from} succeeded, and only those that did are imitated`,
    seen: `${groups.reduce((sum, { members }) => sum + members.length, 0)} episodes without success`,
    next: 'Record more, imitate all with --set clone.from=all, or learn from the failures with --recipe kto',
    fields: { path: from },
  });
}

/**
 * What a recipe imitates first that then learns from all episodes, failures among them: of a role in which nobody succeeded, all. They
 * show at least how a turn is written.
 */
export function warmStartOf(groups: readonly Group[], { clone }: From): readonly Group[] {
  const won = new Set(groups.flatMap(({ members }) => members.flatMap(successfulRoles)));
  const isShown = (episode: Episode, role: Role): boolean => succeeded(episode, role) || !won.has(role);
  return clone.from === 'all' ? groups : withRoles(groups, isShown);
}

/** The roles of some episodes that are in none of the imitated ones. */
export function unimitatedRoles(groups: readonly Group[], imitated: readonly Group[]): readonly Role[] {
  const rolesOf = (some: readonly Group[]): ReadonlySet<Role> =>
    new Set(some.flatMap(({ members }) => members.flatMap(trainedRoles)));
  const shown = rolesOf(imitated);
  return [...rolesOf(groups)].filter((role) => !shown.has(role));
}

/** The learned roles of an episode that succeeded, as far as anybody said. */
export const successfulRoles = (episode: Episode): readonly Role[] =>
  trainedRoles(episode).filter((role) => succeeded(episode, role));

const succeeded = ({ success }: Episode, role: Role): boolean => success[role] ?? false;

/** The groups with these learned roles alone: who lost a game is shown beside who won it. */
function withRoles(
  groups: readonly Group[],
  isLearned: (episode: Episode, role: Role) => boolean,
): readonly Group[] {
  return groups.flatMap((group) => {
    const members = group.members.flatMap((episode) => {
      const all = trainedRoles(episode);
      const learned = all.filter((role) => isLearned(episode, role));
      if (learned.length === 0) return [];
      return learned.length === all.length ? [episode] : [leavingOut(episode, learned)];
    });
    return members.length === 0 ? [] : [{ ...group, members }];
  });
}

function leavingOut(episode: Episode, learned: readonly Role[]): Episode {
  return {
    ...episode,
    calls: episode.calls.map((call) =>
      isTrained(call) && !learned.includes(call.role) ? { ...call, trainable: 'left-out' } : call,
    ),
  };
}
