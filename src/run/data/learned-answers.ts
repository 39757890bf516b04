/** Whose answers in recorded episodes are learned: those of the learner’s roles, and never those of opponents and simulated users. */

import type { Call, Episode, Role } from '../../core/episode.ts';
import { isTrained } from '../../core/trajectory.ts';
import type { World } from '../../env/world.ts';
import { LEARNER } from '../../policy/engine-policy.ts';
import { withoutCallsOf } from '../../synth/without-roles.ts';
import type { TrainConfig } from '../../train/config/config.ts';
import { playerSource } from '../players/player-source.ts';

/** What is learned of recorded episodes. */
export interface Lesson {
  /** Whether a role is. Default: every role with an outcome. */
  readonly roles?: (episode: Episode, role: Role) => boolean;
  /** Whether an answer in such a role is. Default: all. */
  readonly answers?: (call: Call) => boolean;
}

/** Whether weights of this run play the role: those of a learner, or of an earlier self, which can do what the learner could. */
export function isOwnRole(
  role: Role,
  { users = {} }: Pick<World, 'users'>,
  { players, seats }: Pick<TrainConfig, 'players' | 'seats'>,
): boolean {
  const name = seats[role];
  if (typeof name !== 'string') return !Object.hasOwn(users, role);
  return name === LEARNER || ['learner', 'past'].includes(playerSource(name, players[name]).kind);
}

/** Whether a learner sat in a role of an episode that a run has stored: nothing that another player wrote is trained there. */
export function isLearnersRole({ seats, calls }: Pick<Episode, 'seats' | 'calls'>, role: Role): boolean {
  const player = seats[role]?.player ?? LEARNER;
  return player === LEARNER || calls.some((call) => call.role === role && isTrained(call));
}

/**
 * The episode with the answers marked that are learned, whoever wrote them; but what a file says is shown alone stays so, and so do
 * models that an agent asked. Of other roles only what learned ones go on from is left.
 */
export function withLesson(
  episode: Episode,
  { roles = () => true, answers = () => true }: Lesson,
): { readonly episode: Episode; readonly others: number } {
  const credited = Object.keys(episode.outcome);
  const own = credited.filter((role) => roles(episode, role));
  const isOther = (role: Role): boolean => credited.includes(role) && !own.includes(role);
  const mark = (call: Call): Call => {
    const { role, purpose, trainable } = call;
    if (isOther(role)) return trainable === true ? { ...call, trainable: 'other-model' } : call;
    if (trainable === 'left-out' || purpose === 'consult' || !own.includes(role)) return call;
    return { ...call, trainable: answers(call) ? true : 'left-out' };
  };
  const { calls, ...rest } = withoutCallsOf(episode, isOther);
  const others = episode.calls.filter(({ role, purpose }) => isOther(role) && purpose !== 'consult').length;
  return { episode: { ...rest, calls: calls.map(mark) }, others };
}
