/** Which pairs a reward model does not learn from, so that its accuracy on them says something. */

import { Rng } from '../../core/rng.ts';
import type { PreferenceRow } from '../../data/row.ts';
import { splitRows } from '../../data/statistics.ts';

export interface DividedPairs {
  readonly kept: readonly PreferenceRow[];
  readonly heldOut: readonly PreferenceRow[];
  readonly by: 'openings' | 'pairs';
}

/**
 * By tasks, so that none is on both sides; where these are too few, by two conversations each, with all pairs of how they begin.
 * One side is empty where there are no four conversations.
 */
export function dividedPairs(rows: readonly PreferenceRow[], share: number, seed: number): DividedPairs {
  const parts = splitRows(rows, share, seed);
  if (parts.kept.length > 0 && parts.heldOut.length > 0) return { ...parts, by: 'openings' };
  const shuffled = Rng.of('held-out', seed).shuffle(ofConversations(rows));
  const count = Math.min(shuffled.length - 1, Math.max(1, Math.round(share * shuffled.length)));
  return { kept: shuffled.slice(count).flat(), heldOut: shuffled.slice(0, count).flat(), by: 'pairs' };
}

/** The pairs of each two conversations. Where a file does not say whose beginnings pairs are, those of the same first answers. */
export function ofConversations(rows: readonly PreferenceRow[]): PreferenceRow[][] {
  const all = new Map<string, PreferenceRow[]>();
  for (const row of rows) {
    const { messages, chosen, rejected, source } = row;
    const first = [chosen, rejected].map((way) => way.find(({ role }) => role === 'assistant'));
    const name = JSON.stringify([messages, source.pair ?? first]);
    const known = all.get(name);
    if (known) known.push(row);
    else all.set(name, [row]);
  }
  return [...all.values()];
}
