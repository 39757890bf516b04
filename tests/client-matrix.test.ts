/** The table of clients in the documentation is made of what `npm run test:clients` saw, on each version of Node. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pageTable, type Seen } from './clients/seen.ts';

const read = (file: string): string => readFileSync(new URL(file, import.meta.url), 'utf8');
const seen = [20, 22].map((node) => JSON.parse(read(`clients/seen/node${node}.json`)) as Seen);

test('the documentation shows it', () => {
  expect(read('../docs/train-your-agent.md')).toContain(`\n${pageTable(seen)}\n`);
});

test('every client holds plain conversations, tools, streams and two at once on one path each', () => {
  for (const { rows } of seen) {
    for (const { client, cells } of rows) {
      const paths = ['plain', 'tools', 'parallel', 'streaming', 'conversations'] as const;
      expect([client, ...paths.map((column) => cells[column]?.paths)]).toEqual([client, 1, 1, 1, 1, 2]);
    }
  }
});
