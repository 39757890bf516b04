/**
 * The matrix of clients: every real client holds every kind of conversation, and no sampled token is lost. What was seen lies in
 * `seen/`, which TURNWISE_UPDATE=1 writes anew, and from which tests/client-matrix.test.ts makes the table of the documentation.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hold } from './columns.ts';
import { Desks } from './desk.ts';
import { COLUMNS, type Row } from './row.ts';
import { aiSdkAnthropic, aiSdkOpenai, aiSdkOpenaiChat } from './rows/ai-sdk.ts';
import { anthropicSdk } from './rows/anthropic.ts';
import { langchainAnthropic, langchainChat, langchainResponses } from './rows/langchain.ts';
import { mastraRows } from './rows/mastra.ts';
import { openaiChat, openaiResponses } from './rows/openai.ts';
import { agentsChat, agentsResponses } from './rows/openai-agents.ts';
import type { Seen, SeenCell } from './seen.ts';

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
const cells = new Map<string, SeenCell>();
const wanted = rows.flatMap(({ name, without }) =>
  COLUMNS.filter((column) => !without?.includes(column)).map((column) => `${name}|${column}`),
);
beforeAll(async () => {
  desks = await Desks.open();
});
afterAll(async () => {
  await desks.close();
});

describe.each(rows.map((row) => [row.name, row] as const))('%s', (name, row) => {
  test.each(COLUMNS.filter((column) => !row.without?.includes(column)))('%s', async (column) => {
    cells.set(`${name}|${column}`, await hold(desks, row, column));
  });
});

const major = Number(process.versions.node.split('.')[0]);
const file = new URL(`seen/node${major}.json`, import.meta.url);

/** Runs last: files of tests run from top to bottom. */
test('what was seen is what the documentation says', ({ skip }) => {
  // A part of the matrix says nothing of the others.
  if (wanted.some((cell) => !cells.has(cell))) skip();
  const seen: Seen = {
    node: major,
    rows: rows.map(({ name, packages }) => ({
      client: name,
      versions: Object.fromEntries(packages.map((one) => [one, versionOf(one)])),
      cells: Object.fromEntries(
        COLUMNS.flatMap((column) => {
          const cell = cells.get(`${name}|${column}`);
          return cell ? [[column, cell]] : [];
        }),
      ),
    })),
  };
  if (process.env.TURNWISE_UPDATE === '1') writeFileSync(file, `${JSON.stringify(seen, undefined, 2)}\n`);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(seen);
});

function versionOf(name: string): string {
  const manifest = readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
