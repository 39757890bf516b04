/** What makes rows of one task: what they show, and what they do not show. */

import { expect, test } from 'vitest';
import type { Json } from '../core/json/json.ts';
import { episodesOfRows } from './episodes-of-rows.ts';
import { pairsOfRows } from './pairs-of-rows.ts';
import { parseRow } from './read-rows.ts';
import type { Row } from './row.ts';
import { taskOf } from './row-names.ts';
import { splitRows, statisticsOf } from './statistics.ts';

const row = (task: Json | undefined, reward = 0, said = `guess ${reward}`): Row =>
  parseRow(
    JSON.stringify({
      messages: [
        { role: 'user', content: 'guess my word' },
        { role: 'assistant', content: said },
      ],
      ...(task !== undefined && { task }),
      reward,
    }),
  );

test('a hidden task tells rows apart that show the same, in whatever order its fields stand', () => {
  expect(taskOf(row({ a: 1, b: 2 }))).toBe(taskOf(row({ b: 2, a: 1 })));
  expect(taskOf(row({ a: 1, b: 2 }))).not.toBe(taskOf(row({ a: 1, b: 3 })));
  // What has no task keeps the name that it had, and with it its side of a division.
  expect([taskOf(row(undefined)), taskOf(row(null))]).toEqual(['a41eb73448c5b26a', 'a41eb73448c5b26a']);
});

test('groups, pairs, figures and divisions are of tasks', () => {
  const words = Array.from({ length: 40 }, (_, index) => `word ${index}`);
  const rows = words.flatMap((word) => [row(word, 0), row(word, 1)]);
  const reading = { environment: 'words', role: 'agent', write: () => '' };
  const { groups } = episodesOfRows(rows, reading);
  expect(groups.map(({ members }) => members.map(({ task }) => task))).toEqual(
    words.map((word) => [word, word]),
  );
  expect(pairsOfRows(rows).map(({ task }) => task)).toEqual(words);
  // Different words are no two ways of one task.
  expect(pairsOfRows([row('figs', 0), row('dates', 1)])).toEqual([]);
  expect(statisticsOf(rows).tasks).toBe(40);
  const { kept, heldOut } = splitRows(rows, 0.3, 1);
  expect(heldOut.length).toBeGreaterThan(6);
  const held = new Set(heldOut.map(({ task }) => task));
  expect(kept.filter(({ task }) => held.has(task))).toEqual([]);
  expect(kept.length + heldOut.length).toBe(80);
});

test('a large file has figures, too', () => {
  const one = row('figs', 1);
  expect(statisticsOf(new Array<Row>(130_000).fill(one))).toMatchObject({ rows: 130_000, longest: 20 });
});
