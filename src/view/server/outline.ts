/** A group as its page begins: what the members did, turn by turn, and when. No tokens. */

import type { Call } from '../../core/episode.ts';
import { fingerprint } from '../../core/fingerprint.ts';
import type { Json } from '../../core/json/json.ts';
import { surpriseOf } from '../../core/surprise.ts';
import { actOf, roleGroups, type Trajectory, type Turn } from '../../core/trajectory.ts';
import type { GroupOutline, MemberOutline, Segment, TurnOutline } from '../shapes.ts';
import { finite } from './finite.ts';
import type { ReadGroup } from './groups.ts';
import { placeOf } from './step-episodes.ts';

/** Longest action that an outline tells. */
const actionLimit = 400;
const taskLimit = 16 * 1024;

export function outlineOf({ stored, group }: ReadGroup): GroupOutline {
  const roles = roleGroups([group]);
  return {
    place: placeOf(stored.shard),
    step: group.step,
    group: stored.group,
    label: stored.label,
    task: shortTask(group.members[0]?.task ?? null),
    roles: roles.map(({ role }) => role),
    members: group.members.flatMap((_, member) =>
      roles.map(({ members }) => memberOf(members[member]!, member)),
    ),
  };
}

/** A task that is longer than anybody reads in a title is the beginning of its JSON. */
function shortTask(task: Json): Json {
  const text = JSON.stringify(task);
  return text.length <= taskLimit ? task : text.slice(0, actionLimit);
}

function memberOf(trajectory: Trajectory, member: number): MemberOutline {
  const { episode, role, turns, outcome, success, stop } = trajectory;
  const advantages = episode.credit?.[role]?.advantages_K ?? [];
  const segments = segmentsOf(trajectory);
  return {
    member,
    key: episode.key,
    role,
    success,
    return: finite(outcome),
    stop,
    seconds: Math.max(0, ...segments.map(({ to }) => to)) / 1000,
    turns: turns.map((turn, k) => turnOf(turn, advantages[k])),
    segments,
  };
}

function turnOf(turn: Turn, advantage: number | undefined): TurnOutline {
  const { transition, calls, reward } = turn;
  const act = actOf(turn) ?? calls.at(-1);
  const logprob = act && act.logprobs.length > 0 ? sum(act.logprobs) : undefined;
  return {
    situation: transition?.anchor || (act ? promptHash(act) : ''),
    action: (transition?.action ?? act?.text ?? '').slice(0, actionLimit),
    valid: transition?.valid ?? true,
    reward: finite(reward),
    advantage: finite(advantage),
    surprise: finite(surpriseOf(calls)),
    tokens: calls.reduce((total, { ids }) => total + ids.length, 0),
    logprob: finite(logprob),
  };
}

function promptHash({ context, parent }: Call): string {
  return fingerprint(`${parent ?? ''} ${context.join()}`).slice(0, 16);
}

function segmentsOf({ calls, episode: { transitions }, role }: Trajectory): Segment[] {
  const own = calls
    .filter((call) => call.role === role)
    .flatMap(({ id, at, waitMs, policyMs }): Segment[] => [
      { kind: 'wait', from: at, to: at + waitMs, call: id },
      { kind: 'complete', from: at + waitMs, to: at + waitMs + policyMs, call: id },
    ]);
  const between = transitions
    .filter((transition) => transition.role === role)
    .map(({ at, environmentMs }): Segment => ({ kind: 'environment', from: at, to: at + environmentMs }));
  return [...own, ...between]
    .filter(({ from, to }) => Number.isFinite(from) && to > from)
    .sort((a, b) => a.from - b.from);
}

const sum = (numbers: ArrayLike<number>): number => {
  let total = 0;
  for (let index = 0; index < numbers.length; index++) total += numbers[index]!;
  return total;
};
