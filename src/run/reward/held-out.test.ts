/** What a reward model is held to: conversations of which it has not even seen the beginnings. */

import { expect, test } from 'vitest';
import { pairsOfRows } from '../../data/pairs-of-rows.ts';
import { parseRow } from '../../data/read-rows.ts';
import { isPreference, type PreferenceRow } from '../../data/row.ts';
import { rowLine } from '../../data/write-rows.ts';
import { dividedPairs } from './held-out.ts';

/** Pairs of conversations of `turns` answers, of which each is its own from the first on, and of how they begin. */
function pairsOf(conversations: number, turns = 5, task = (_: number): string => 'one'): PreferenceRow[] {
  const rows = Array.from({ length: 2 * conversations }, (_, index) =>
    parseRow(
      JSON.stringify({
        messages: [
          { role: 'user', content: 'go' },
          ...Array.from({ length: turns }, (__, turn) => [
            { role: 'assistant', content: `${index} ${turn}` },
            { role: 'user', content: 'on' },
          ]).flat(),
        ],
        task: task(index),
        reward: index,
      }),
    ),
  );
  return pairsOfRows(rows, { beginnings: true })
    .map((row) => parseRow(rowLine(row)))
    .filter(isPreference);
}

const firstOf = ({ chosen }: PreferenceRow): string => chosen[0]!.content.split(' ')[0]!;

test.each([
  ['whose names the pairs carry', (row: PreferenceRow) => row],
  [
    'by their first answers',
    ({ source: { pair: _, ...source }, ...row }: PreferenceRow) => ({ ...row, source }),
  ],
])('beginnings are on the side of their conversations, %s', (_name, as) => {
  const pairs = pairsOf(10).map(as);
  expect(pairs).toHaveLength(50);
  for (const seed of [1, 2, 3]) {
    const { kept, heldOut, by } = dividedPairs(pairs, 0.2, seed);
    expect([by, kept.length, heldOut.length]).toEqual(['pairs', 40, 10]);
    const held = new Set(heldOut.map(firstOf));
    expect(held.size).toBe(2);
    expect(kept.some((row) => held.has(firstOf(row)))).toBe(false);
  }
});

test('two conversations alone cannot be divided, and several tasks are divided by them', () => {
  expect(dividedPairs(pairsOf(1), 0.2, 1).heldOut).toEqual([]);
  const { kept, heldOut, by } = dividedPairs(
    pairsOf(30, 2, (index) => `task ${index % 15}`),
    0.3,
    1,
  );
  expect(by).toBe('openings');
  const held = new Set(heldOut.map(({ task }) => task));
  expect(kept.some(({ task }) => held.has(task))).toBe(false);
});
