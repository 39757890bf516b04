/**
 * A trajectory is one role of an episode, as credit sees it: its turns, in order, through the prefix that a branch shares.
 *
 * A turn is a transition of the role with the call that it names. The role's other calls (plans, summaries, answers of a
 * context strategy) join the next named call of their conversation, else of the role, else the last turn. A reward in
 * another role's transition goes to the role's turn before it, a score to its last. A trained role without transitions has
 * one turn.
 */

import type { Call, Choice, Episode, Group, Role, Transition } from './episode.ts';
import { keyText } from './episode-key.ts';
import type { StopReason } from './stop.ts';

export interface Turn {
  /** What the environment did; absent where a trained role took no step. */
  readonly transition: Transition | undefined;
  /** The role's calls that led to it, in order. */
  readonly calls: readonly Call[];
  /** What the role earned from it until its next one. */
  readonly reward: number;
}

export interface Trajectory {
  /** The episode's key as text, with the role where there are several. Unique in a run. */
  readonly id: string;
  readonly groupId: string;
  readonly role: Role;
  readonly episode: Episode;
  /** Calls of all roles from the start, those of the prefix included. */
  readonly calls: readonly Call[];
  readonly turns: readonly Turn[];
  readonly outcome: number;
  readonly success: boolean;
  readonly stop: StopReason;
  /** The id of the trajectory that it branched from, and how many of its first turns are that one's. */
  readonly parent?: string;
  readonly sharedTurns?: number;
  /** What roles of the episode earned that are left out of the batch, such as one that took no turn. */
  readonly absentOutcome?: number;
  /** What curation decided; absent: it is in the baseline and in the loss, at weight 1. */
  readonly choice?: Choice;
}

/** One role of a group: what group-relative methods compare. */
export interface RoleGroup {
  readonly id: string;
  readonly role: Role;
  readonly group: Group;
  readonly members: readonly Trajectory[];
}

/** Calls and transitions of an episode from the start. */
export interface Chain {
  readonly calls: readonly Call[];
  readonly transitions: readonly Transition[];
}

/** Whether policy gradients learn from it. */
export const isTrained = (call: Call): boolean => call.trainable === true;

/** The roles that policy gradients learn from. */
export const trainedRoles = ({ calls }: Pick<Chain, 'calls'>): readonly Role[] => [
  ...new Set(calls.filter(isTrained).map(({ role }) => role)),
];

/** How many of the turn's tokens a policy sampled: none where a script or an opponent wrote it. */
export function sampledTokens({ calls }: Turn): number {
  return calls.reduce((sum, call) => sum + (isTrained(call) ? call.ids.length : 0), 0);
}

/** The call that the turn's transition names. */
export function actOf({ transition, calls }: Turn): Call | undefined {
  return transition?.call === undefined ? undefined : calls.find(({ id }) => id === transition.call);
}

/** An episode with the calls and transitions of its prefix. @throws RangeError where the prefix is not in the group */
export function chainOf(group: Group, episode: Episode): Chain {
  const { branchedFrom } = episode;
  if (branchedFrom === undefined) return episode;
  const wanted = keyText(branchedFrom.episode);
  const origin = group.members.find(({ key }) => keyText(key) === wanted);
  if (origin === undefined) {
    throw new RangeError(
      `Episode ${keyText(episode.key)} branched from ${wanted}, which is not in its group`,
    );
  }
  const prefix = chainOf(group, origin);
  return {
    calls: [...prefix.calls.slice(0, branchedFrom.calls), ...episode.calls],
    transitions: [...prefix.transitions.slice(0, branchedFrom.transition + 1), ...episode.transitions],
  };
}

/** The roles of each group, one after another, each with its trajectories in the order of the members. */
export function roleGroups(groups: readonly Group[]): RoleGroup[] {
  return groups.flatMap((group) => {
    const roles = [...new Set(group.members.flatMap(({ outcome }) => Object.keys(outcome)))];
    const id = `${group.step}/${group.group}`;
    const chains = group.members.map((episode) => chainOf(group, episode));
    return roles.map((role) => ({
      id: roles.length > 1 ? `${id}/${role}` : id,
      role,
      group,
      members: group.members.map((episode, member) =>
        trajectoryOf(episode, role, chains[member]!, id, roles.length > 1),
      ),
    }));
  });
}

function trajectoryOf(
  episode: Episode,
  role: Role,
  chain: Chain,
  groupId: string,
  several: boolean,
): Trajectory {
  const { branchedFrom } = episode;
  const idOf = (key: Episode['key']): string => (several ? `${keyText(key)}/${role}` : keyText(key));
  return {
    id: idOf(episode.key),
    groupId,
    role,
    episode,
    calls: chain.calls,
    turns: turnsOf(episode, role, chain),
    outcome: episode.outcome[role] ?? 0,
    success: episode.success[role] ?? false,
    stop: episode.stop,
    ...(branchedFrom && {
      parent: idOf(branchedFrom.episode),
      sharedTurns: chain.transitions
        .slice(0, branchedFrom.transition + 1)
        .filter((transition) => transition.role === role).length,
    }),
  };
}

function turnsOf(episode: Episode, role: Role, { calls, transitions }: Chain): Turn[] {
  const own = transitions.filter((transition) => transition.role === role);
  const mine = calls.filter((call) => call.role === role);
  const count = own.length > 0 ? own.length : mine.some(isTrained) ? 1 : 0;
  if (count === 0) return [];
  const ofTurn = callsOfTurns(mine, own, count);
  const rewards = new Array<number>(count).fill(0);
  let turn = -1;
  for (const transition of transitions) {
    if (transition.role === role) turn++;
    rewards[Math.max(0, turn)]! += transition.rewards[role] ?? 0;
  }
  for (const score of episode.scores ?? []) {
    const divided = score.turns?.[role];
    if (divided) for (const [k, reward] of divided.entries()) rewards[Math.min(k, count - 1)]! += reward;
    else rewards[count - 1]! += score.rewards[role] ?? 0;
  }
  return ofTurn.map((called, k) => ({ transition: own[k], calls: called, reward: rewards[k]! }));
}

function callsOfTurns(calls: readonly Call[], transitions: readonly Transition[], count: number): Call[][] {
  // Mostly each turn is one call.
  const isOneEach = calls.length === count && transitions.every(({ call }, k) => call === calls[k]!.id);
  if (isOneEach && transitions.length === count) return calls.map((call) => [call]);
  const turnOf = turnOfCalls(calls, transitions);
  const ofTurn = Array.from({ length: count }, (): Call[] => []);
  for (const call of calls) ofTurn[turnOf.get(call.id)!]!.push(call);
  return ofTurn;
}

/** The turn of each call: see the head of this file. Walks backwards, so that the next named call is at hand. */
function turnOfCalls(calls: readonly Call[], transitions: readonly Transition[]): Map<number, number> {
  const named = new Map<number, number>();
  for (const [k, { call }] of transitions.entries()) if (call !== undefined) named.set(call, k);
  const turns = new Map<number, number>();
  const nextOf = new Map<string, number>();
  let next = Math.max(0, transitions.length - 1);
  for (const { id, conversation } of [...calls].reverse()) {
    const k = named.get(id);
    turns.set(id, k ?? nextOf.get(conversation) ?? next);
    if (k === undefined) continue;
    nextOf.set(conversation, k);
    next = k;
  }
  return turns;
}
