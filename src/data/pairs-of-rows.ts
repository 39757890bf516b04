/** Pairs from conversations with rewards: of those that begin alike, one that earned more with one that earned less. */

import type { ConversationRow, PreferenceRow, Row } from './row.ts';
import { isLearned, isPreference } from './row.ts';
import { openingOf } from './rows-of-episode.ts';

/**
 * Pairs of rows with the same opening and different rewards: the best with the worst, the second best with the second worst, and
 * so on, so that each conversation is in one pair at most. Rows that are pairs already stay as they are.
 */
export function pairsOfRows(rows: readonly Row[]): PreferenceRow[] {
  const byOpening = new Map<string, ConversationRow[]>();
  const pairs: PreferenceRow[] = [];
  for (const row of rows) {
    if (isPreference(row)) pairs.push(row);
    else if (row.reward !== undefined && row.messages.some(isLearned)) {
      const opening = openingOf(row);
      byOpening.set(opening, [...(byOpening.get(opening) ?? []), row]);
    }
  }
  for (const alike of byOpening.values()) {
    const sorted = [...alike].sort((a, b) => b.reward! - a.reward!);
    for (let place = 0; place < Math.floor(sorted.length / 2); place++) {
      const [better, worse] = [sorted[place]!, sorted[sorted.length - 1 - place]!];
      if (better.reward! > worse.reward!) pairs.push(pairOf(better, worse));
    }
  }
  return pairs;
}

function pairOf(better: ConversationRow, worse: ConversationRow): PreferenceRow {
  const { tools, task, source, messages } = better;
  const first = messages.findIndex(({ role }) => role === 'assistant');
  const { episode: _, stop: __, ...origin } = source;
  return {
    v: 1,
    messages: messages.slice(0, first),
    chosen: messages.slice(first),
    rejected: worse.messages.slice(first),
    ...(tools && { tools }),
    ...(task !== undefined && { task }),
    source: origin,
  };
}
