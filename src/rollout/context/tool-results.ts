/** What contexts over tool results share: which messages are results, which of them still stand in the prompt, and cuts. */

import type { Part } from '../../core/episode.ts';
import type { Message } from '../../core/messages.ts';
import type { View } from './strategy.ts';

type Seen = Pick<View, 'calls' | 'fresh' | 'tools'>;

export type IsResult = (message: Message, isOpening: boolean) => boolean;

/** Results are what tools answered; without tools, everything that the environment said after the opening. */
function resultsIn({ calls, tools }: Seen): IsResult {
  return resultsWith((tools?.length ?? 0) > 0 || calls.some((call) => call.tools !== undefined));
}

/** @param hasTools whether there are tools whose answers are the results */
export function resultsWith(hasTools: boolean): IsResult {
  return ({ role }, isOpening) => role === 'tool' || (!hasTools && role === 'user' && !isOpening);
}

/** How many results are new before each call, and in the latest messages, which come last. */
export function resultCounts(view: Seen, isResult: IsResult = resultsIn(view)): readonly number[] {
  return [...view.calls.map(({ messages }) => messages), view.fresh].map(
    (messages, turn) => messages.filter((message) => isResult(message, turn === 0)).length,
  );
}

/**
 * How many of the oldest results are folded: `every` more whenever over `most` stand in the prompt. Results of one message are
 * folded together; those that nobody has read yet are not folded.
 */
export function foldedBy(counts: readonly number[], before: number, most: number, every: number): number {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const read = total - (counts.at(-1) ?? 0);
  let folded = before;
  while (total - folded > most && folded < read) {
    let end = 0;
    for (const count of counts) {
      if (end >= Math.min(folded + every, read)) break;
      end += count;
    }
    folded = end;
  }
  return folded;
}

/** The whole conversation, in which `written` gives what stands for each result; `turn` is the place of its call. */
export function withResults(
  view: Seen,
  written: (result: Message, index: number, turn: number) => Message,
  isResult: IsResult = resultsIn(view),
): readonly Part[] {
  let index = 0;
  const shown = (messages: readonly Message[], turn: number): readonly Message[] =>
    messages.map((message) => (isResult(message, turn === 0) ? written(message, index++, turn) : message));
  const earlier = view.calls.flatMap(({ id, messages }, turn): Part[] => {
    const now = shown(messages, turn);
    const isSame = now.every((message, at) => message === messages[at]);
    return [...(isSame ? [{ shown: id }] : now), { call: id }];
  });
  return [...earlier, ...shown(view.fresh, view.calls.length)];
}

export const SIDES = ['left', 'right', 'middle'] as const;

/** A text of at most `most` characters and a mark where it was cut; the side is the one that is kept. */
export function cutText(text: string, most: number, side: (typeof SIDES)[number]): string {
  const letters = Array.from(text);
  if (letters.length <= most) return text;
  if (side === 'left') return `${letters.slice(0, most).join('')}…`;
  if (side === 'right') return `…${letters.slice(letters.length - most).join('')}`;
  const head = Math.ceil(most / 2);
  const tail = letters.slice(letters.length - (most - head));
  return `${letters.slice(0, head).join('')}…${tail.join('')}`;
}
