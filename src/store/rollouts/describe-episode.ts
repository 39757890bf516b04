/** The index records of an episode, one for each role: the numbers by which episodes are found without being read. */

import { hash } from 'node:crypto';
import type { Call, Episode, Role } from '../../core/episode.ts';
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
  let turns = 0;
  for (const transition of transitions)
    if (transition.role === role && transition.call !== undefined) turns++;
  return turns;
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
    const { stop } = episode;
    const hash = hashOf(episode.task);
    const seconds = secondsOf(episode);
    const roles = rolesOf(episode).slice(0, rolesPerEpisode);
    // Nobody sat there, and it must be found all the same.
    if (roles.length === 0) roles.push('');
    return roles.map((role, place): IndexFields => {
      const { turns, tokens, surprise, oldest, newest } = sampledBy(episode, role);
      // Written out: spreads of so many fields take ten times as long, and as much room.
      return {
        shard,
        offset,
        length,
        line,
        step,
        group,
        member,
        split,
        role: place,
        label,
        stop,
        flags: flagsOf(episode, role),
        turns,
        tokens,
        return: episode.outcome[role] ?? Number.NaN,
        seconds,
        surprise,
        advantage: advantageOf(episode, role),
        oldestVersion: oldest,
        newestVersion: newest,
        taskHash: hash,
      };
    });
  });
}

interface Sampled {
  readonly turns: number;
  readonly tokens: number;
  readonly surprise: number;
  /** Versions of the weights. */
  readonly oldest: number;
  readonly newest: number;
}

/** What the policy, or a model, sampled for a role. */
function sampledBy(episode: Episode, role: Role): Sampled {
  const sampled: Call[] = [];
  let tokens = 0;
  let oldest = Number.POSITIVE_INFINITY;
  let newest = Number.NEGATIVE_INFINITY;
  for (const call of episode.calls) {
    const { kind, version } = call.by;
    if (call.role !== role || (kind !== 'policy' && kind !== 'model')) continue;
    sampled.push(call);
    tokens += call.ids.length;
    if (kind !== 'policy') continue;
    oldest = Math.min(oldest, version);
    newest = Math.max(newest, version);
  }
  if (newest < oldest) oldest = newest = episode.seats[role]?.version ?? episode.key.step;
  return { turns: turnsOf(episode, role), tokens, surprise: surpriseOf(sampled), oldest, newest };
}

function advantageOf({ credit }: Episode, role: Role): number {
  const { advantages_K = [], advantages_T = [] } = credit?.[role] ?? {};
  return meanOf(advantages_K.length > 0 ? advantages_K : advantages_T);
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
