/** From an agent on a rented model to the same agent on a model of one's own: record, imitate, reinforce; and a server that fails. */

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/command-line.ts';
import { dataCommand } from '../src/cli/commands/data.ts';
import { evalCommand } from '../src/cli/commands/eval.ts';
import { trainCommand } from '../src/cli/commands/train.ts';
import type { Interrupts } from '../src/cli/interrupts.ts';
import { memoryConsole, noInterrupts } from '../src/cli/testing-console.test-helper.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-three-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const root = join(folder, 'runs');
const agent = join(folder, 'agent.ts');
writeFileSync(
  agent,
  `import { defineAgent } from '${resolve(import.meta.dirname, '../src/exports/index.ts')}';
const words = ['red', 'green', 'blue'];
export const agent = defineAgent<{ word: string }>({
  name: 'echo-agent',
  maxCalls: 2,
  tasks: () => words.map((word) => ({ word })),
  async run({ task, baseURL, apiKey, model }) {
    const response = await fetch(baseURL + '/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer ' + apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ model, temperature: 0.5, messages: [{ role: 'user', content: 'say ' + task.word }] }),
    });
    if (!response.ok) throw new Error(await response.text());
    const { choices } = await response.json();
    return { reward: choices[0].message.content === task.word ? 1 : 0 };
  },
});
`,
);

let server: Server;
let url: string;
let asked = 0;
/** What the server does with its nth call. */
let behaviour: (call: number) => 'answer' | 'nonsense' | 'gone' | 'slow' | 'silent' = () => 'answer';
/** Milliseconds until a slow server answers. */
const SLOW_MS = 1500;

beforeEach(async () => {
  asked = 0;
  behaviour = () => 'answer';
  server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += String(part);
    const what = behaviour(++asked);
    if (what === 'silent') return;
    if (what === 'slow') await new Promise((done) => setTimeout(done, SLOW_MS));
    const { messages } = JSON.parse(text) as { messages: { content: string }[] };
    response.writeHead(what === 'gone' ? 404 : 200, { 'content-type': 'application/json' });
    const content = messages.at(-1)!.content.replace('say ', '');
    const choices = [{ message: { role: 'assistant', content }, finish_reason: 'stop' }];
    const usage = { prompt_tokens: 10, completion_tokens: 2 };
    response.end(
      what === 'nonsense' ? '<html>busy' : JSON.stringify(what === 'gone' ? {} : { choices, usage }),
    );
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `openai:http://127.0.0.1:${(server.address() as AddressInfo).port}/v1#gpt`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

const commands = [evalCommand, trainCommand, dataCommand];
const turnwise = (...line: string[]) => interruptible(noInterrupts, ...line);
async function interruptible(interrupts: Interrupts, ...line: string[]) {
  const console = memoryConsole();
  const code = await runCommandLine(line, { commands, version: '0', console, interrupts });
  return { code, output: console.output(), errors: console.errors().replaceAll('\n', ' ') };
}
const small = ['model.width=16', 'model.layers=1', 'model.heads=2', 'model.hidden=32', 'threads=1']
  .concat(['evaluation.every=0', 'evaluation.finalTasks=3', 'clone.batch=8', 'steps=2'])
  .flatMap((setting) => ['--set', setting]);
const rowsOf = (file: string): { source: { stop: string } }[] =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

test('record, imitate and reinforce, from there to reinforcement alone', { timeout: 240_000 }, async () => {
  const file = join(folder, 'gpt.jsonl');
  const none = await turnwise('train', agent, '--runs', root, ...small);
  expect(none.code).not.toBe(0);
  expect(none.errors).toContain('turnwise eval AGENT --policy openai:URL#MODEL --record FILE');
  expect(none.errors).toContain('--set data=FILE');
  const recorded = await turnwise(
    'eval',
    agent,
    '--policy',
    url,
    '--record',
    file,
    '--tasks',
    '3',
    '--price',
    '1,10',
  );
  expect(recorded.code).toBe(0);
  expect(recorded.errors).toMatch(
    /At most 6 calls; about .*3 calls, 30 tokens read and 6 written, 0\.0001 spent/,
  );
  expect(rowsOf(file)).toHaveLength(3);
  expect((await turnwise('data', 'check', file)).output).toContain('3 rows, all can be read');
  const reinforce = ['--set', 'rollout.tasks=3', '--set', 'rollout.group=4'];
  const imitated = await turnwise(
    'train',
    agent,
    '--set',
    `data=${file}`,
    '--runs',
    root,
    '--name',
    'a',
    ...small,
    ...reinforce,
  );
  expect([imitated.code, imitated.errors]).toEqual([0, expect.any(String)]);
  const events = readFileSync(join(root, 'a', 'events.jsonl'), 'utf8');
  expect(events).toContain('"type":"data"');
  expect(events).toMatch(/"episodes":3,"successful":3/);
  const alone = await turnwise(
    'train',
    agent,
    '--recipe',
    'sft',
    '--set',
    `data=${file}`,
    '--runs',
    root,
    '--name',
    'b',
    ...small,
  );
  expect([alone.code, alone.errors]).toEqual([0, expect.any(String)]);
  const further = await turnwise(
    'train',
    agent,
    '--set',
    'start=b@last',
    '--runs',
    root,
    '--name',
    'c',
    ...small,
    ...reinforce,
  );
  expect([further.code, further.errors]).toEqual([0, expect.any(String)]);
  expect(existsSync(join(root, 'c', 'events.jsonl'))).toBe(true);
});

test.each(['nonsense', 'gone'] as const)(
  'a server that is %s halfway: nothing is lost, and it goes on',
  async (what) => {
    const file = join(folder, `${what}.jsonl`);
    const line = ['eval', agent, '--policy', url, '--record', file, '--tasks', '3', '--concurrency', '1'];
    behaviour = (call) => (call > 2 ? what : 'answer');
    await turnwise(...line);
    expect(rowsOf(file).filter(({ source }) => source.stop === 'done')).toHaveLength(2);
    behaviour = () => 'answer';
    const before = asked;
    const again = await turnwise(...line);
    expect(again.code).toBe(0);
    expect(again.errors).toContain('2 episodes were in');
    expect(asked - before).toBe(1);
    expect(rowsOf(file).filter(({ source }) => source.stop === 'done')).toHaveLength(3);
  },
);

test('a server slower than any step of the agent may be is waited for, and nothing is lost', async () => {
  const file = join(folder, 'slow.jsonl');
  behaviour = () => 'slow';
  const line = ['eval', agent, '--policy', url, '--record', file, '--tasks', '3', '--timeout-ms', '500'];
  expect((await turnwise(...line)).code).toBe(0);
  expect(rowsOf(file).map(({ source }) => source.stop)).toEqual(['done', 'done', 'done']);
});

test('a server that says nothing any more is left with Ctrl-C: what was recorded stays, and it goes on', async () => {
  const file = join(folder, 'silent.jsonl');
  const line = ['eval', agent, '--policy', url, '--record', file, '--tasks', '3', '--concurrency', '1'];
  behaviour = (call) => (call > 2 ? 'silent' : 'answer');
  const controller = new AbortController();
  const left = interruptible({ ...noInterrupts, signal: controller.signal }, ...line);
  await expect.poll(() => asked, { timeout: 60_000 }).toBe(3);
  controller.abort();
  expect((await left).code).not.toBe(0);
  expect(rowsOf(file).filter(({ source }) => source.stop === 'done')).toHaveLength(2);
  behaviour = () => 'answer';
  expect((await turnwise(...line)).errors).toContain('2 episodes were in');
  expect(asked).toBe(4);
  expect(rowsOf(file).filter(({ source }) => source.stop === 'done')).toHaveLength(3);
});

test('what a comparison of the group adds is recorded once, as soon as an episode ends', async () => {
  const scored = join(folder, 'scored.ts');
  const source = readFileSync(agent, 'utf8');
  writeFileSync(
    scored,
    source.replace(
      "name: 'echo-agent',",
      "name: 'scored-agent',\n  scoreGroup: (episodes) => episodes.map(() => 0.25),",
    ),
  );
  const file = join(folder, 'scored.jsonl');
  const line = ['eval', scored, '--policy', url, '--record', file, '--tasks', '3', '--concurrency', '1'];
  behaviour = (call) => (call > 2 ? 'gone' : 'answer');
  await turnwise(...line);
  const rewards = () => rowsOf(file).flatMap((row) => ('reward' in row ? [row.reward] : []));
  expect(rewards()).toEqual([1.25, 1.25]);
  behaviour = () => 'answer';
  const { output } = await turnwise(...line, '--json');
  expect(rewards()).toEqual([1.25, 1.25, 1.25]);
  expect(JSON.parse(output.trim().split('\n').at(-1)!)).toMatchObject({
    'as asked': { episodes: 3, return: 1.25 },
  });
});

test('at the limit it stops with everything kept, and a higher limit goes on', async () => {
  const file = join(folder, 'limited.jsonl');
  const line = ['eval', agent, '--policy', url, '--record', file, '--tasks', '3', '--concurrency', '1'];
  const limited = await turnwise(...line, '--max-calls', '2');
  expect(limited.code).toBe(1);
  expect(limited.errors).toContain(
    'The limit of what models elsewhere may cost is reached. Seen: 2 calls, 24 tokens',
  );
  expect(asked).toBe(2);
  expect(rowsOf(file).filter(({ source }) => source.stop === 'done')).toHaveLength(2);
  expect((await turnwise(...line, '--max-calls', '2')).code).toBe(0);
  expect(asked).toBe(3);
});
