/** Pairs from conversations with rewards: of those of one task, one that earned more with one that earned less. */

import { createHash } from 'node:crypto';
import type { ConversationRow, PreferenceRow, Row, RowMessage } from './row.ts';
import { isLearned, isPreference } from './row.ts';
import { taskOf } from './row-names.ts';

/**
 * Pairs of rows of one task and role with different rewards: the best with the worst, the second best with the second worst, and
 * so on, so that each conversation is in one pair at most. Rows that are pairs already stay as they are.
 *
 * @param options `beginnings`: a pair of conversations gives further ones, of how both began up to the same number of answers
 */
export function pairsOfRows(
  rows: readonly Row[],
  { beginnings = false }: { readonly beginnings?: boolean } = {},
): PreferenceRow[] {
  const byTask = new Map<string, ConversationRow[]>();
  const pairs: PreferenceRow[] = [];
  for (const row of rows) {
    if (isPreference(row)) pairs.push(row);
    else if (row.reward !== undefined && row.messages.some(isLearned)) {
      const task = JSON.stringify([taskOf(row), row.source.role]);
      const alike = byTask.get(task);
      if (alike) alike.push(row);
      else byTask.set(task, [row]);
    }
  }
  for (const alike of byTask.values()) {
    const sorted = [...alike].sort((a, b) => b.reward! - a.reward!);
    for (let place = 0; place < Math.floor(sorted.length / 2); place++) {
      const [better, worse] = [sorted[place]!, sorted[sorted.length - 1 - place]!];
      if (better.reward! <= worse.reward!) continue;
      const pair = pairOf(better, worse);
      pairs.push(...(beginnings ? beginningsOf(pair) : []), pair);
    }
  }
  return pairs;
}

function pairOf(better: ConversationRow, worse: ConversationRow): PreferenceRow {
  const { tools, task, source, messages } = better;
  const first = messages.findIndex(({ role }) => role === 'assistant');
  const { episode: _, stop: __, turns: ___, ...origin } = source;
  const [chosen, rejected] = [messages.slice(first), worse.messages.slice(first)];
  return {
    v: 1,
    messages: messages.slice(0, first),
    ...{ chosen, rejected },
    ...(tools && { tools }),
    ...(task !== undefined && { task }),
    source: { ...origin, pair: nameOf(chosen, rejected) },
  };
}

/** Names two conversations, so that pairs of how they begin are known to be theirs. */
const nameOf = (chosen: readonly RowMessage[], rejected: readonly RowMessage[]): string =>
  createHash('sha256')
    .update(JSON.stringify([chosen, rejected]))
    .digest('hex')
    .slice(0, 16);

/** Pairs of how both ways begin, up to each number of answers that both go beyond; none of beginnings that are the same. */
function beginningsOf(pair: PreferenceRow): PreferenceRow[] {
  const [chosen, rejected] = [pair.chosen, pair.rejected].map(untilAnswers);
  const count = Math.min(chosen!.length, rejected!.length) - 1;
  return Array.from({ length: Math.max(0, count) }, (_, k) => ({
    ...pair,
    chosen: chosen![k]!,
    rejected: rejected![k]!,
  })).filter((one) => contentsOf(one.chosen) !== contentsOf(one.rejected));
}

/** The messages up to each answer, that answer included. */
function untilAnswers(messages: readonly RowMessage[]): (readonly RowMessage[])[] {
  return messages.flatMap(({ role }, at) => (role === 'assistant' ? [messages.slice(0, at + 1)] : []));
}

const contentsOf = (messages: readonly RowMessage[]): string =>
  JSON.stringify(messages.map(({ role, content, toolCalls }) => [role, content, toolCalls]));
