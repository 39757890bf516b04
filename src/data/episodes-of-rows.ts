/** Rows as episodes, so that everything that learns from episodes learns from files. */

import { createHash, type Hash } from 'node:crypto';
import type { Episode, EpisodeKey, Group, Role, Split, Transition } from '../core/episode.ts';
import { isTrainable, type StopReason } from '../core/stop.ts';
import { type Answer, answersOf, authorOf, type RowReading, roleOf } from './answers-of-rows.ts';
import { type ConversationRow, isLearned, isPreference, type PreferenceRow, type Row } from './row.ts';
import { recordedEpisode, taskOf } from './row-names.ts';

export interface EpisodesOfRows {
  readonly groups: readonly Group[];
  /** The episodes whose recorded ids are used as they are. */
  readonly exact: ReadonlySet<Episode>;
}

/** Rows of one episode. */
type Several = ConversationRow[];

/**
 * Rows of one recorded episode make one, with the roles that they have, of which a later recording replaces an earlier one; any
 * other row is an episode of its own. Those of the same task are a group; so are the two ways of a pair, of which the better one
 * earns 1 and the other 0.
 */
export function episodesOfRows(rows: readonly Row[], reading: RowReading): EpisodesOfRows {
  const exact = new Set<Episode>();
  const groups: Group[] = [];
  const byTask = new Map<string, Several[]>();
  const recorded = new Map<string, Several>();
  for (const row of rows) {
    if (isPreference(row)) {
      groups.push(pairGroup(row, groups.length, reading, exact));
      continue;
    }
    const name = recordedEpisode(row);
    const known = name === undefined ? undefined : recorded.get(name);
    if (known) {
      if (isRepeated(known, row)) known.length = 0;
      known.push(row);
      continue;
    }
    const one: Several = [row];
    if (name !== undefined) recorded.set(name, one);
    const task = taskOf(row);
    const alike = byTask.get(task);
    if (alike) alike.push(one);
    else byTask.set(task, [one]);
  }
  for (const alike of byTask.values()) {
    const group = groups.length;
    groups.push({
      step: 0,
      group,
      members: alike.map((one, member) => episodeOf(one, { group, member }, reading, exact)),
    });
  }
  return { groups, exact };
}

/** Whether an episode has this conversation of the role already, or failed: then it was recorded again. */
function isRepeated(known: Several, row: ConversationRow): boolean {
  const said = saidIn(row);
  return known
    .filter(({ source }) => source.role === row.source.role)
    .some((one) => !isTrainable(stopOf(one.source)) || saidIn(one) === said);
}

const saidIn = ({ messages, source }: ConversationRow): string => JSON.stringify([messages, source.turns]);

const stopOf = ({ stop = 'done' }: ConversationRow['source']): StopReason => stop as StopReason;

function pairGroup(
  { messages, chosen, rejected, ...rest }: PreferenceRow,
  group: number,
  reading: RowReading,
  exact: Set<Episode>,
): Group {
  const before = messages.map((message) =>
    isLearned(message) ? { ...message, weight: 0 as const } : message,
  );
  const members = [chosen, rejected].map((way, member) => {
    const row: ConversationRow = {
      ...rest,
      messages: [...before, ...way],
      reward: 1 - member,
      success: member === 0,
    };
    return episodeOf([row], { group, member }, reading, exact);
  });
  return { step: 0, group, members };
}

function episodeOf(
  rows: readonly ConversationRow[],
  place: Pick<EpisodeKey, 'group' | 'member'>,
  reading: RowReading,
  exact: Set<Episode>,
): Episode {
  const [first] = rows;
  const { source, task = null } = first!;
  const { environment } = reading;
  const { answers, tools, isExact } = answersOf(rows, reading);
  const transitions = transitionsOf(answers);
  const seats: Record<Role, { readonly player: string; readonly version: number }> = {};
  const outcome: Record<Role, number> = {};
  const success: Record<Role, boolean> = {};
  for (const row of rows) {
    const role = roleOf(row, reading);
    if (role in seats) continue;
    seats[role] = { player: authorOf(row), version: 0 };
    const earned = settle(transitions, role, row.reward);
    outcome[role] = earned;
    // Nothing says that it failed.
    success[role] = row.success ?? (row.reward === undefined || earned > 0);
  }
  const split = (['train', 'validation', 'test'] as const).find((one) => one === source.split) ?? 'train';
  const episode: Episode = {
    key: {
      step: 0,
      environment,
      split: split satisfies Split,
      task: source.episode?.task ?? taskOf(first!),
      ...place,
    },
    task,
    calls: answers.map(({ call }) => call),
    transitions,
    tools,
    seats,
    outcome,
    success,
    stop: stopOf(source),
  };
  if (isExact) exact.add(episode);
  return episode;
}

/** Pays what a role earned beyond the rewards of its turns to the last of them. @returns what it earned */
function settle(transitions: Transition[], role: Role, reward: number | undefined): number {
  const paid = transitions.reduce((sum, { rewards }) => sum + (rewards[role] ?? 0), 0);
  const earned = reward ?? paid;
  const at = transitions.findLastIndex((transition) => transition.role === role);
  const last = transitions[at];
  if (last && earned !== paid)
    transitions[at] = { ...last, rewards: { [role]: (last.rewards[role] ?? 0) + earned - paid } };
  return earned;
}

/** Each answer that is learned is a turn. */
function transitionsOf(answers: readonly Answer[]): Transition[] {
  const seenBy = new Map<Role, Hash>();
  return answers.flatMap(({ call, reward }): Transition[] => {
    const { id, role, messages, text, at, trainable } = call;
    const seen = seenBy.get(role) ?? createHash('sha256');
    seenBy.set(role, seen);
    for (const { role: who, content } of messages) seen.update(`${who}: ${content}\n`);
    const anchor = seen.copy().digest('hex').slice(0, 16);
    seen.update(`${text}\n`);
    if (trainable === 'left-out') return [];
    return [
      {
        call: id,
        role,
        anchor,
        action: text,
        valid: true,
        rewards: { [role]: reward },
        at,
        environmentMs: 0,
      },
    ];
  });
}
