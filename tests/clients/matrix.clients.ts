/** The matrix of clients: every real client holds every kind of conversation, and no sampled token is lost. */

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { hold } from './columns.ts';
import { Desks } from './desk.ts';
import { COLUMNS, type Row } from './row.ts';
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
    cells.set(`${name}|${column}`, 'failed');
    cells.set(`${name}|${column}`, await hold(desks, row, column));
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
