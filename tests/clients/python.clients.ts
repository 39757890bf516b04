/** The same columns with Python clients, where TURNWISE_PYTHON names a Python that has them (tools/interop/gateway_clients.py). */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { hold } from './columns.ts';
import { Desks } from './desk.ts';
import { COLUMNS, type Column, type Row } from './row.ts';

const python = process.env.TURNWISE_PYTHON;
const script = fileURLToPath(new URL('../../tools/interop/gateway_clients.py', import.meta.url));
const withoutId: readonly Column[] = ['previous id'];

/** smolagents writes calls and results as words of its own: each call of the policy is a path. */
const foreign = (calls: number, first = 1) => ({
  ...{ calls, paths: calls },
  reasons: Array.from({ length: calls - first }, () => 'foreign-words'),
});
const rewritten: Row['edits'] = {
  plain: foreign(2),
  tools: foreign(3),
  parallel: foreign(3),
  streaming: foreign(3),
  conversations: foreign(6, 2),
};

const names: readonly (readonly [name: string, without?: readonly Column[], edits?: Row['edits']])[] = [
  ['openai, chat completions', withoutId],
  ['openai, responses'],
  ['openai-agents'],
  ['anthropic', [], { 'previous id': { calls: 2, paths: 1, reasons: [] } }],
  ['LangGraph, ChatOpenAI', withoutId],
  ['LangGraph, ChatOpenAI, responses', withoutId],
  ['LangGraph, ChatAnthropic', withoutId],
  ['smolagents', [...withoutId, 'rewritten'], rewritten],
  ['LiteLLM, openai', withoutId],
  ['LiteLLM, anthropic', withoutId],
];
const rows = names.map(
  ([name, without = [], edits]): Row => ({
    name,
    packages: [],
    without: [...without, 'structured'],
    ...(edits && { edits }),
    talk: async ({ baseURL, anthropicBaseURL, apiKey, weather }, talk) => {
      const { stdout } = await promisify(execFile)(python!, [script, name, JSON.stringify(talk)], {
        env: {
          ...process.env,
          GATEWAY_BASE_URL: baseURL,
          GATEWAY_ANTHROPIC_BASE_URL: anthropicBaseURL,
          GATEWAY_KEY: apiKey,
        },
      });
      const { words, cities } = JSON.parse(stdout.trim().split('\n').at(-1)!) as {
        words: string;
        cities: string[];
      };
      for (const city of cities) weather({ city });
      return words;
    },
  }),
);

describe.skipIf(python === undefined)('in Python', () => {
  let desks: Desks;
  beforeAll(async () => {
    desks = await Desks.open();
  });
  afterAll(() => desks.close());

  describe.each(rows.map((row) => [row.name, row] as const))('%s', (_name, row) => {
    test.each(COLUMNS.filter((column) => !row.without!.includes(column)))('%s', async (column) => {
      await hold(desks, row, column);
    });
  });
});
