/** The page of limits says what the code does, and names tests that exist. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

/** Each row of the page by its first cell, as its source has it. */
const sources: Readonly<Record<string, string>> = {
  'body of a request to `turnwise gateway`': 'bodyBytes: 4 * 2 ** 20',
  'calls of one gateway session': 'callsPerSecond: 200,\n  callBurst: 400',
  'one call of the gateway, waiting included': 'callTimeoutMs: 600_000',
  'gateway session without a call': 'leaseMs: 600_000',
  'open sessions of a gateway': 'sessions: 4096',
  'answer of a model elsewhere': 'answerBytes = 32 * 2 ** 20',
  '`tell` of a source of prompts, without the time of its proposer': 'new IdleDeadline(ANSWER_MS',
  'answer of a proposer of prompts, one attempt of a question to a model elsewhere': 'ANSWER_MS = 300_000',
  'nesting of JSON in requests and answers': 'depth: 64',
  'lists and objects in a request or an answer': 'containers: 500_000',
  'body of a request to `turnwise env serve`, message of a socket': 'BODY_LIMIT = 4 * 1024 * 1024',
  'step of a served environment': 'stepTimeoutMs: 60_000',
  'silent session of a served environment': 'leaseMs: 300_000',
  'sessions of a served environment': 'maxSessions: 1024',
  'body of a request to `turnwise serve`': 'bodyBytes: 32 * 2 ** 20',
  'silent session of `turnwise serve`': 'sessionTimeoutMs: 300_000',
  'models under training in `turnwise serve`': 'mostModels: 4',
  'answer of a Tinker server': 'answerBytes = 256 * 2 ** 20',
  'answer of an environment server': 'ANSWER_LIMIT = 16 * 1024 * 1024',
  '`info` of an environment': '{ depth: 64, values: 100_000, characters: 1_000_000 }',
  'chat template of a model': '{ steps: 1_000_000, letters: 16_000_000, items: 100_000 }',
  'call of a runtime': 'timeMs: 10_000,\n  memoryBytes: 512 * 2 ** 20,\n  outputLength: 10_000',
  'output of an agent’s command': 'outputBytes = 10 * 2 ** 20',
  'steps in which every episode fails': '.default(3)',
};

const rows = [
  ...read('docs/limits.md').matchAll(
    /^\| (.+) \| (.+) \| \[.+\]\(\.\.\/(.+)\) \| \[(.+)\]\(\.\.\/(.+)\) \|$/gm,
  ),
].map(([, what, , source, title, shown]) => ({ what: what!, source: source!, title: title!, shown: shown! }));

test('every row has its source, and every source a row', () => {
  expect(rows.map(({ what }) => what)).toEqual(Object.keys(sources));
});

test.each(rows)('$what', ({ what, source, title, shown }) => {
  expect(read(source)).toContain(sources[what]);
  expect(read(shown)).toContain(title);
});
