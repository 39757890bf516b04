/** The index records of an episode, one for each role: the numbers by which episodes are found without being read. */

import { hash } from 'node:crypto';
import type { Episode, Role } from '../../core/episode.ts';
import { canonicalJson, type Json } from '../../core/json/json.ts';
import { isTrainable, type StopReason } from '../../core/stop.ts';
import { surpriseOf } from '../../core/surprise.ts';
import type { EpisodeLabel, StoredEpisode } from './episode-line.ts';
import { FLAGS, type IndexFields, rolesPerEpisode } from './index-record.ts';
import type { MemberRange } from './shard.ts';
import { recordedShard, type Shard } from './shard-names.ts';

/** Roles of an episode, sorted by name: the index knows them by their place here. */
export function rolesOf({ seats, outcome }: Pick<Episode, 'seats' | 'outcome'>): Role[] {
  return [...new Set([...Object.keys(seats), ...Object.keys(outcome)])].sort();
}

/** 64 bits that equal tasks share. */
export function taskHash(task: Json): bigint {
  return hash('sha256', canonicalJson(task), 'buffer').readBigUInt64LE();
}

/** Transitions of a role that name a call: its turns. */
export function turnsOf({ transitions }: Episode, role: Role): number {
  return transitions.filter((transition) => transition.role === role && transition.call !== undefined).length;
}

/** Members of a group share their task, and mostly the very object. */
function rememberingLast(hash: (task: Json) => bigint): (task: Json) => bigint {
  let last: { readonly task: Json; readonly hash: bigint } | undefined;
  return (task) => {
    if (last === undefined || last.task !== task) last = { task, hash: hash(task) };
    return last.hash;
  };
}

/** Records of the episodes of one group, in the order of their lines. */
export function describeGroup(
  stored: readonly StoredEpisode[],
  shard: Shard,
  { offset, length }: MemberRange,
): IndexFields[] {
  const usual: EpisodeLabel = shard === recordedShard ? 'recorded' : 'training';
  const hashOf = rememberingLast(taskHash);
  return stored.flatMap(({ episode, label = usual }, line) => {
    const { step, group, member, split } = episode.key;
    const shared = { shard, offset, length, line, step, group, member, split, label, stop: episode.stop };
    const hash = hashOf(episode.task);
    const seconds = secondsOf(episode);
    const roles = rolesOf(episode).slice(0, rolesPerEpisode);
    // Nobody sat there, and it must be found all the same.
    if (roles.length === 0) roles.push('');
    return roles.map((role, place) => ({
      ...shared,
      role: place,
      flags: flagsOf(episode, role),
      seconds,
      taskHash: hash,
      ...numbersOf(episode, role),
    }));
  });
}

function numbersOf(
  episode: Episode,
  role: Role,
): Pick<
  IndexFields,
  'turns' | 'tokens' | 'return' | 'surprise' | 'advantage' | 'oldestVersion' | 'newestVersion'
> {
  const calls = episode.calls.filter((call) => call.role === role);
  const sampled = calls.filter(({ by }) => by.kind === 'policy' || by.kind === 'model');
  const versions = calls.filter(({ by }) => by.kind === 'policy').map(({ by }) => by.version);
  if (versions.length === 0) versions.push(episode.seats[role]?.version ?? episode.key.step);
  const { advantages_K = [], advantages_T = [] } = episode.credit?.[role] ?? {};
  return {
    turns: turnsOf(episode, role),
    tokens: sampled.reduce((sum, { ids }) => sum + ids.length, 0),
    return: episode.outcome[role] ?? Number.NaN,
    surprise: surpriseOf(sampled),
    advantage: meanOf(advantages_K.length > 0 ? advantages_K : advantages_T),
    oldestVersion: Math.min(...versions),
    newestVersion: Math.max(...versions),
  };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Until the last thing ended. */
function secondsOf({ calls, transitions }: Episode): number {
  let end = 0;
  for (const { at, waitMs, policyMs } of calls) end = Math.max(end, at + waitMs + policyMs);
  for (const { at, environmentMs } of transitions) end = Math.max(end, at + environmentMs);
  return end / 1000;
}

const limits: readonly StopReason[] = ['turn-limit', 'token-limit', 'context-overflow'];

function flagsOf({ success, stop, branchedFrom }: Episode, role: Role): number {
  return (
    (success[role] ? FLAGS.success : 0) |
    (isTrainable(stop) ? 0 : FLAGS.failed) |
    (branchedFrom ? FLAGS.branched : 0) |
    (limits.includes(stop) ? FLAGS.truncated : 0)
  );
}
