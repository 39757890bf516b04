/** Rows as episodes, so that everything that learns from episodes learns from files. */

import { createHash } from 'node:crypto';
import type {
  Call,
  Episode,
  EpisodeKey,
  Group,
  Role,
  Split,
  TopTokens,
  Transition,
} from '../core/episode.ts';
import type { Message, ToolDeclaration } from '../core/messages.ts';
import { isTrainable, type StopReason } from '../core/stop.ts';
import {
  type ConversationRow,
  isLearned,
  isPreference,
  type Row,
  type RowMessage,
  type RowTop,
} from './row.ts';
import { openingOf, recordedEpisode } from './rows-of-episode.ts';

export interface RowReading {
  /** The environment that the episodes are of. */
  readonly environment: string;
  /** Of rows that name none. */
  readonly role: Role;
  /** The text that the policy would have written to say a message. */
  readonly write: (message: Message) => string;
  /** Hash of its tokenizer: recorded ids are used where theirs is equal. */
  readonly tokenizer?: string;
}

export interface EpisodesOfRows {
  readonly groups: readonly Group[];
  /** The episodes whose recorded ids are used as they are. */
  readonly exact: ReadonlySet<Episode>;
}

/** Rows of one episode, and the episode that they make. */
interface Several {
  readonly rows: ConversationRow[];
  readonly opening: string;
}

/**
 * Rows of one recorded episode make one, of which a later recording replaces an earlier one; any other row is an episode of its own.
 * Those with the same opening are a group; so are the two ways of a pair, of which the better one earns 1 and the other 0.
 */
export function episodesOfRows(rows: readonly Row[], reading: RowReading): EpisodesOfRows {
  const exact = new Set<Episode>();
  const groups: Group[] = [];
  const byOpening = new Map<string, Several[]>();
  const recorded = new Map<string, Several>();
  for (const row of rows) {
    if (isPreference(row)) {
      groups.push(pairGroup(row, groups.length, reading, exact));
      continue;
    }
    const name = recordedEpisode(row);
    const known = name === undefined ? undefined : recorded.get(name);
    if (known && !isRepeated(known, row)) {
      known.rows.push(row);
      continue;
    }
    if (known) {
      known.rows.splice(0, known.rows.length, row);
      continue;
    }
    const one: Several = { rows: [row], opening: openingOf(row) };
    if (name !== undefined) recorded.set(name, one);
    byOpening.set(one.opening, [...(byOpening.get(one.opening) ?? []), one]);
  }
  for (const several of byOpening.values()) {
    const group = groups.length;
    groups.push({
      step: 0,
      group,
      members: several.map((one, member) => episodeOf(one.rows, { group, member }, reading, exact)),
    });
  }
  return { groups, exact };
}

/** Whether an episode has this conversation already: then it was recorded again. */
function isRepeated({ rows }: Several, row: ConversationRow): boolean {
  const failed = rows.some(({ source }) => !isTrainable((source.stop ?? 'done') as StopReason));
  return failed || rows.some((known) => JSON.stringify(known.messages) === JSON.stringify(row.messages));
}

function pairGroup(
  { messages, chosen, rejected, ...rest }: Extract<Row, { chosen: readonly RowMessage[] }>,
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
  const { source, task = null, reward, success } = first!;
  const { environment } = reading;
  const role = source.role ?? reading.role;
  const tools: Record<string, readonly ToolDeclaration[]> = {};
  const calls: Call[] = [];
  let isExact = true;
  for (const [conversation, row] of rows.entries()) {
    isExact = callsOf(row, String(conversation), role, reading, tools, calls) && isExact;
  }
  const stop = (source.stop ?? 'done') as StopReason;
  const transitions = transitionsOf(rows, calls, role);
  const paid = transitions.reduce((sum, { rewards }) => sum + (rewards[role] ?? 0), 0);
  const outcome = reward ?? paid;
  const last = transitions.at(-1);
  if (last && outcome !== paid) {
    const rewards = { [role]: (last.rewards[role] ?? 0) + outcome - paid };
    transitions[transitions.length - 1] = { ...last, rewards };
  }
  const by = source.by ?? source.name ?? source.kind;
  const split = (['train', 'validation', 'test'] as const).find((one) => one === source.split) ?? 'train';
  const episode: Episode = {
    key: {
      step: 0,
      environment,
      split: split satisfies Split,
      task: source.episode?.task ?? openingOf(first!),
      ...place,
    },
    task,
    calls,
    transitions,
    tools,
    seats: { [role]: { player: by, version: 0 } },
    outcome: { [role]: outcome },
    // Nothing says that it failed.
    success: { [role]: success ?? (reward === undefined || outcome > 0) },
    stop,
  };
  if (isExact && calls.length > 0) exact.add(episode);
  return episode;
}

/** The calls of a conversation. @returns whether their recorded ids are used */
function callsOf(
  { messages, tools, tokens, source }: ConversationRow,
  conversation: string,
  role: Role,
  { write, tokenizer }: RowReading,
  declared: Record<string, readonly ToolDeclaration[]>,
  calls: Call[],
): boolean {
  const answers = messages.filter((message) => message.role === 'assistant').length;
  const isExact = tokens !== undefined && tokens.tokenizer !== undefined && tokens.tokenizer === tokenizer;
  const spans = isExact && tokens.sampled.length === answers ? tokens : undefined;
  const key = tools && tools.length > 0 ? toolsKey(tools, declared) : undefined;
  let parent: number | undefined;
  let fresh: Message[] = [];
  let [answer, from, sampled] = [0, 0, 0];
  for (const message of messages) {
    if (message.role !== 'assistant') {
      fresh.push(message);
      continue;
    }
    const [start, end] = spans?.sampled[answer++] ?? [0, 0];
    const { content, reasoning, toolCalls = [] } = message;
    const id = calls.length;
    calls.push({
      id,
      conversation,
      ...(parent !== undefined && { parent }),
      role,
      by: { kind: 'model', name: source.by ?? source.name ?? source.kind, version: 0 },
      purpose: 'act',
      sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 0 },
      context: spans?.ids.slice(from, start) ?? new Int32Array(),
      ids: spans?.ids.slice(start, end) ?? new Int32Array(),
      logprobs: spans?.logprobs.slice(sampled, sampled + end - start) ?? new Float32Array(),
      ...(spans?.top && end > start && { top: topIn(spans.top, sampled, sampled + end - start) }),
      messages: fresh,
      ...(key !== undefined && { tools: key }),
      text: write(message),
      reply: {
        content,
        ...(reasoning !== undefined && { reasoning }),
        toolCalls: toolCalls.map(({ name, arguments: given }) => ({ name, arguments: given })),
      },
      finish: 'none',
      trainable: isLearned(message) ? 'other-model' : 'left-out',
      ...{ at: id, waitMs: 0, policyMs: 0 },
    });
    [parent, fresh, from, sampled] = [id, [], end, sampled + end - start];
  }
  return spans !== undefined;
}

/** The likeliest tokens of some of the sampled ids. */
function topIn({ k, ids, logprobs }: RowTop, from: number, to: number): TopTokens {
  return { ids: ids.slice(from * k, to * k), logprobs: logprobs.slice(from * k, to * k) };
}

function toolsKey(
  tools: readonly ToolDeclaration[],
  declared: Record<string, readonly ToolDeclaration[]>,
): string {
  const key = createHash('sha256').update(JSON.stringify(tools)).digest('hex').slice(0, 12);
  declared[key] = tools;
  return key;
}

/** Each answer that is learned is a turn. */
function transitionsOf(rows: readonly ConversationRow[], calls: readonly Call[], role: Role): Transition[] {
  const answers = rows.flatMap(({ messages }) => messages.filter((message) => message.role === 'assistant'));
  const seen = createHash('sha256');
  return calls.flatMap((call, index): Transition[] => {
    for (const { role: who, content } of call.messages) seen.update(`${who}: ${content}\n`);
    const anchor = seen.copy().digest('hex').slice(0, 16);
    seen.update(`${call.text}\n`);
    if (call.trainable === 'left-out') return [];
    const { id, text, at } = call;
    const rewards = { [role]: answers[index]?.reward ?? 0 };
    return [{ call: id, role, anchor, action: text, valid: true, rewards, at, environmentMs: 0 }];
  });
}
