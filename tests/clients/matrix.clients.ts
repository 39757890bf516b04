/** The matrix of clients: every real client holds every kind of conversation, and no sampled token is lost. */

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AGAIN, Desks, QUESTION, SYSTEM } from './desk.ts';
import { COLUMNS, type Column, type Row, type Talk } from './row.ts';
import { aiSdkAnthropic, aiSdkOpenai, aiSdkOpenaiChat } from './rows/ai-sdk.ts';
import { anthropicSdk } from './rows/anthropic.ts';
import { langchainAnthropic, langchainChat, langchainResponses } from './rows/langchain.ts';
import { mastraRows } from './rows/mastra.ts';
import { openaiChat, openaiResponses } from './rows/openai.ts';
import { agentsChat, agentsResponses } from './rows/openai-agents.ts';

const rows: readonly Row[] = [
  openaiChat,
  openaiResponses,
  agentsChat,
  agentsResponses,
  anthropicSdk,
  aiSdkOpenaiChat,
  aiSdkOpenai,
  aiSdkAnthropic,
  langchainChat,
  langchainResponses,
  langchainAnthropic,
  ...mastraRows,
];

interface Expected {
  readonly calls: number;
  readonly paths: number;
  readonly reasons: readonly string[];
}

const turns: Talk = {
  system: SYSTEM,
  questions: [QUESTION, AGAIN],
  tools: true,
  stream: false,
  structured: false,
  previous: false,
  rewrite: false,
};
const looked: Expected = { calls: 3, paths: 1, reasons: [] };
const columns: Record<
  Column,
  { readonly talk: Talk; readonly cities: readonly string[]; readonly expected: Expected }
> = {
  plain: { talk: { ...turns, tools: false }, cities: [], expected: { ...looked, calls: 2 } },
  tools: { talk: turns, cities: ['Zürich'], expected: looked },
  parallel: { talk: turns, cities: ['Zürich', 'Paris'], expected: looked },
  streaming: { talk: { ...turns, stream: true }, cities: ['Zürich', 'Paris'], expected: looked },
  structured: {
    talk: { ...turns, structured: true, system: `${SYSTEM}STRUCTURED` },
    cities: ['Zürich'],
    expected: looked,
  },
  'previous id': { talk: { ...turns, previous: true }, cities: ['Zürich'], expected: looked },
  conversations: { talk: turns, cities: ['Zürich'], expected: { calls: 6, paths: 2, reasons: [] } },
  rewritten: {
    talk: { ...turns, rewrite: true },
    cities: ['Zürich'],
    expected: { calls: 3, paths: 2, reasons: ['foreign-words'] },
  },
};

// The AI SDK would warn in every call that it does not know the model.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

let desks: Desks;
const cells = new Map<string, string>();
beforeAll(async () => {
  desks = await Desks.open();
});
afterAll(async () => {
  await desks.close();
  console.log(table());
});

describe.each(rows.map((row) => [row.name, row] as const))('%s', (name, row) => {
  test.each(COLUMNS.filter((column) => !row.without?.includes(column)))('%s', async (column) => {
    const { talk, cities, expected } = columns[column];
    cells.set(`${name}|${column}`, 'failed');
    const answers: string[] = [];
    const cell = await desks.run(cities, async (desk) => {
      const others = column === 'conversations' ? [{ ...talk, questions: [`Now. ${QUESTION}`, AGAIN] }] : [];
      answers.push(...(await Promise.all([talk, ...others].map((one) => row.talk(desk, one)))));
    });
    for (const answer of answers) {
      if (talk.structured) expect(JSON.parse(answer)).toEqual({ city: 'Zürich', degrees: 21 });
      else expect(answer.trim()).toBe('It is 21 degrees\u00a0there.');
    }
    const { calls, paths, reasons, lost } = cell;
    expect(lost).toBe(0);
    expect({ calls, paths, reasons }).toEqual({ ...expected, ...row.edits?.[column] });
    const times = column === 'conversations' ? 2 : 1;
    expect([...cell.cities].sort()).toEqual([...cities, ...(times === 2 ? cities : [])].sort());
    cells.set(`${name}|${column}`, `${calls} in ${paths}`);
  });
});

/** Calls and paths of every cell, with the versions that were tried. */
function table(): string {
  const versionOf = (name: string): string =>
    (
      JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url), 'utf8')) as {
        version: string;
      }
    ).version;
  const lines = rows.map(({ name, packages }) => [
    `${name} (${packages.map(versionOf).join(', ')})`,
    ...COLUMNS.map((column) => cells.get(`${name}|${column}`) ?? '–'),
  ]);
  return [
    `Node ${process.versions.node}: calls in paths; sampled tokens lost: 0 in every cell that has a figure`,
    ['client', ...COLUMNS].join(' | '),
    ['---', ...COLUMNS.map(() => '---')].join(' | '),
    ...lines.map((line) => line.join(' | ')),
  ].join('\n');
}
