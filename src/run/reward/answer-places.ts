/** Where the answers of an episode stand in its conversations: each after what was read when it was written. */

import type { Call } from '../../core/episode.ts';
import type { Message } from '../../core/messages.ts';
import type { ConversationRow } from '../../data/row.ts';

export interface AnswerPlace {
  /** Which of the conversations, from 0. */
  readonly conversation: number;
  /** Which of its answers, from 0. */
  readonly answer: number;
}

type Calls = ReadonlyMap<number, Call>;

/**
 * By the id of the call. A context that rewrites shows an answer again after something else: that is not its place.
 *
 * @param rows of one role, with their `turns`
 */
export function answerPlaces(
  rows: readonly ConversationRow[],
  calls: readonly Call[],
): ReadonlyMap<number, AnswerPlace> {
  const byId = new Map(calls.map((call) => [call.id, call]));
  const own = new Map<number, AnswerPlace>();
  const again = new Map<number, AnswerPlace>();
  for (const [conversation, row] of rows.entries()) {
    const inPlace = answersInPlace(row, byId);
    for (const [answer, call] of row.source.turns!.entries()) {
      const found = inPlace.has(answer) ? own : again;
      if (!found.has(call)) found.set(call, { conversation, answer });
    }
  }
  return new Map([...again, ...own]);
}

/** Which answers of a conversation follow what their calls read, by the record of these. */
function answersInPlace({ messages, source }: ConversationRow, byId: Calls): ReadonlySet<number> {
  const found = new Set<number>();
  /** The call that a message is, where it is an answer. */
  const callAt = new Map<number, number>();
  for (const [index, { role }] of messages.entries())
    if (role === 'assistant') callAt.set(index, source.turns![callAt.size]!);
  const isRead = (read: Message | number, index: number): boolean =>
    typeof read === 'number' ? callAt.get(index) === read : isSame(messages[index], read);
  const placeOf = new Map<number, number>();
  for (const [answer, [index, id]] of [...callAt].entries()) {
    const { parent, parts, messages: fresh } = byId.get(id)!;
    const reads = parts ? readsOf(parts, fresh, byId) : fresh;
    const from = index - reads.length;
    const goesOn = parts === undefined && parent !== undefined && byId.has(parent);
    const begins = goesOn ? placeOf.get(parent) === from - 1 : from === 0;
    if (!begins || !reads.every((read, at) => isRead(read, from + at))) continue;
    placeOf.set(id, index);
    found.add(answer);
  }
  return found;
}

/** The parts of a prompt, answers as the ids of their calls. */
const readsOf = (
  parts: NonNullable<Call['parts']>,
  fresh: readonly Message[],
  byId: Calls,
): (Message | number)[] =>
  parts.flatMap((part): readonly (Message | number)[] => {
    if ('content' in part) return [part];
    return 'call' in part ? [part.call] : (byId.get(part.shown)?.messages ?? fresh);
  });

/** What only looks like an answer is marked as shown in a row. */
const isSame = (one: Message | undefined, other: Message): boolean =>
  one === other || (one?.role === 'assistant' && other.role === 'assistant' && one.content === other.content);
