/** The answers of an episode's rows as calls, in the order in which they were given, as far as the rows tell it. */

import { createHash } from 'node:crypto';
import type { Call, Role, TopTokens } from '../core/episode.ts';
import type { Message, ToolDeclaration } from '../core/messages.ts';
import { type ConversationRow, isLearned, type RowTop } from './row.ts';

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

/** An answer as a call, and what it earned by itself. */
export interface Answer {
  readonly call: Call;
  readonly reward: number;
}

export interface Answers {
  readonly answers: readonly Answer[];
  readonly tools: Readonly<Record<string, readonly ToolDeclaration[]>>;
  /** Whether all recorded ids are used as they are. */
  readonly isExact: boolean;
}

/** An answer with its place among those of all rows, where its row tells it. */
interface Told extends Answer {
  readonly turn: number | undefined;
}

export const roleOf = ({ source }: ConversationRow, { role }: RowReading): Role => source.role ?? role;

export const authorOf = ({ source: { by, name, kind } }: ConversationRow): string => by ?? name ?? kind;

export function answersOf(rows: readonly ConversationRow[], reading: RowReading): Answers {
  const tools: Record<string, readonly ToolDeclaration[]> = {};
  const told: Told[] = [];
  let isExact = true;
  for (const [conversation, row] of rows.entries()) {
    isExact = addAnswers(told, row, String(conversation), reading, tools) && isExact;
  }
  return { answers: inOrder(told), tools, isExact: isExact && told.length > 0 };
}

/** As the rows tell it; where one does not, row after row. */
function inOrder(told: readonly Told[]): readonly Answer[] {
  if (told.some(({ turn }) => turn === undefined)) return told;
  const sorted = [...told].sort((a, b) => a.turn! - b.turn!);
  const placeOf = new Map(sorted.map(({ call }, place) => [call.id, place]));
  return sorted.map(({ call, reward }, id) => {
    const parent = call.parent === undefined ? undefined : placeOf.get(call.parent)!;
    return { call: { ...call, id, ...(parent !== undefined && { parent }), at: id }, reward };
  });
}

/** Adds the answers of a conversation. @returns whether their recorded ids are used */
function addAnswers(
  told: Told[],
  row: ConversationRow,
  conversation: string,
  reading: RowReading,
  declared: Record<string, readonly ToolDeclaration[]>,
): boolean {
  const { messages, tools, tokens, source } = row;
  const { write, tokenizer } = reading;
  const count = messages.filter(({ role }) => role === 'assistant').length;
  const isExact = tokens !== undefined && tokens.tokenizer !== undefined && tokens.tokenizer === tokenizer;
  const spans = isExact && tokens.sampled.length === count ? tokens : undefined;
  const turns = source.turns?.length === count ? source.turns : undefined;
  const key = tools && tools.length > 0 ? toolsKey(tools, declared) : undefined;
  let parent: number | undefined;
  let fresh: Message[] = [];
  let [answer, from, sampled, turn] = [0, 0, 0, 0];
  for (const message of messages) {
    if (message.role !== 'assistant') {
      fresh.push(message);
      continue;
    }
    // What a conversation says later was said later, also where it quotes earlier answers in another order.
    turn = Math.max(turn, turns?.[answer] ?? 0);
    const [start, end] = spans?.sampled[answer] ?? [0, 0];
    const { content, reasoning, toolCalls = [], reward = 0 } = message;
    const id = told.length;
    const call: Call = {
      id,
      conversation,
      ...(parent !== undefined && { parent }),
      role: roleOf(row, reading),
      by: { kind: 'model', name: authorOf(row), version: 0 },
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
    };
    told.push({ call, reward, turn: turns && turn });
    [parent, fresh, answer, from, sampled] = [id, [], answer + 1, end, sampled + end - start];
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
