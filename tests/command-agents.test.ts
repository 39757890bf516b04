/** Command-line agents from the command line: recorded, trained, resumed and watched, and mistakes that name the way on. */

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/command-line.ts';
import { dataCommand } from '../src/cli/commands/data.ts';
import { evalCommand } from '../src/cli/commands/eval.ts';
import { playCommand } from '../src/cli/commands/play.ts';
import { resumeCommand } from '../src/cli/commands/resume.ts';
import { trainCommand } from '../src/cli/commands/train.ts';
import { memoryConsole, noInterrupts } from '../src/cli/testing-console.test-helper.ts';

const coder = new URL('../examples/agents/coder/', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'turnwise-commands-'));
const root = join(folder, 'runs');

const forms: Readonly<Record<string, (name: string) => string>> = {
  twice: (name) => `${name} * 2`,
  half: (name) => `${name} / 2`,
  square: (name) => `${name} * ${name}`,
};

/** What a good model writes for `twice a plus b`. */
function bodyOf(ask: string): string {
  const operators: Readonly<Record<string, string>> = { plus: '+', minus: '-', times: '*' };
  const words = ask.split(' ');
  return words
    .flatMap((word, at) => {
      if (operators[word]) return [operators[word]];
      if (forms[word]) return [forms[word](words[at + 1]!)];
      return at > 0 && forms[words[at - 1]!] ? [] : [word];
    })
    .join(' ');
}

let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += String(part);
    const { messages } = JSON.parse(text) as { messages: { role: string; content: string }[] };
    const tried = messages.at(-1)!.role === 'tool';
    const body = bodyOf(messages[0]!.content.replace('write ', ''));
    const call = {
      id: 'c',
      type: 'function',
      function: { name: 'write', arguments: JSON.stringify({ body }) },
    };
    const message = tried ? { content: 'done' } : { content: null, tool_calls: [call] };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        choices: [{ message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 10, completion_tokens: 2 },
      }),
    );
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `openai:http://127.0.0.1:${(server.address() as AddressInfo).port}/v1#gpt`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  rmSync(folder, { recursive: true, force: true });
});

const commands = [evalCommand, trainCommand, dataCommand, playCommand, resumeCommand];
async function turnwise(...line: string[]) {
  const console = memoryConsole();
  const code = await runCommandLine(line, { commands, version: '0', console, interrupts: noInterrupts });
  return { code, output: console.output(), errors: console.errors().replaceAll('\n', ' ') };
}

/** A few tasks, so that a small model has seen them all. */
function tasks(): string {
  const file = join(folder, 'tasks.jsonl');
  const lines = readFileSync(join(coder, 'tasks.jsonl'), 'utf8').trim().split('\n').slice(0, 24);
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}
const program = (): string[] => [
  '--command',
  `node ${join(coder, 'coder.mjs')}`,
  '--check',
  `node ${join(coder, 'check.mjs')}`,
  '--tasks',
  tasks(),
];
const small = ['model.width=16', 'model.layers=1', 'model.heads=2', 'model.hidden=32', 'threads=1']
  .concat(['evaluation.every=0', 'evaluation.finalTasks=2', 'clone.batch=8', 'clone.steps=30', 'steps=1'])
  .concat(['rollout.tasks=2', 'rollout.group=2'])
  .flatMap((setting) => ['--set', setting]);

test('a program is recorded on a rented model, trained on one of its own, and found again by its run', {
  timeout: 240_000,
}, async () => {
  const file = join(folder, 'gpt.jsonl');
  const recorded = await turnwise('eval', ...program(), '--policy', url, '--record', file);
  expect([recorded.code, recorded.errors]).toEqual([0, expect.stringContaining('calls')]);
  expect(recorded.output).toMatch(/as asked +1\.000/);
  const rows = readFileSync(file, 'utf8').trim().split('\n');
  expect(rows.length).toBeGreaterThan(10);
  expect(JSON.parse(rows[0]!)).toMatchObject({
    reward: 1,
    success: true,
    source: { environment: 'command' },
  });

  const without = await turnwise('train', ...program(), '--runs', root, ...small);
  expect(without.errors).toContain('--set data=FILE');

  const trained = await turnwise(
    'train',
    ...program(),
    '--set',
    `data=${file}`,
    '--runs',
    root,
    '--name',
    'own',
    ...small,
  );
  expect([trained.code, trained.errors]).toEqual([0, expect.any(String)]);
  const events = readFileSync(join(root, 'own', 'events.jsonl'), 'utf8')
    .trim()
    .split('\n');
  const step = events.map((line) => JSON.parse(line)).find(({ type }) => type === 'step');
  expect(step.metrics['episodes/total']).toBe(4);
  expect(step.metrics['tokens/sampled']).toBeGreaterThan(0);

  const measured = await turnwise('eval', 'own', '--tasks', '2', '--runs', root);
  expect([measured.code, measured.errors]).toEqual([0, '']);
  const watched = await turnwise('play', 'command', '--run', 'own', '--runs', root);
  expect([watched.code, watched.errors]).toEqual([0, '']);
  expect(watched.output).toMatch(/call 1\n {2}write /);
  expect((await turnwise('resume', 'own', '--runs', root)).errors).toContain('has finished');
});

test('a program is watched with a model elsewhere', { timeout: 60_000 }, async () => {
  const { output, errors } = await turnwise('play', ...program(), '--policy', url, '--task', '1');
  expect(errors).toBe('');
  expect(output).toMatch(
    /call 1\n {2}write .*\n {2}› <call> write body: .*\n\ncall 2\n {2}tool: works\n {2}› done\n/,
  );
  expect(output).toContain('✓ solved, return 1.00, 2 turns');
});

test('one program that hangs and one that floods end their own episodes, and the others count', {
  timeout: 60_000,
}, async () => {
  const wild = join(folder, 'wild.sh');
  // Every task but these two is answered well.
  writeFileSync(
    wild,
    `case $TURNWISE_TASK in *'"n":1}'*) sleep 1000 ;; *'"n":2}'*) yes ;; *) echo fine ;; esac\n`,
  );
  const file = join(folder, 'wild.jsonl');
  writeFileSync(file, Array.from({ length: 12 }, (_, n) => JSON.stringify({ n })).join('\n'));
  const line = ['--command', `bash ${wild}`, '--check', 'true', '--tasks', file];
  const split = ['--split', 'train', '--policy', url, '--timeout-ms', '1500'];
  const { output, errors } = await turnwise('eval', ...line, ...split);
  expect(errors).toMatch(/1 × timeout: .* did nothing for 1500 ms/);
  expect(errors).toMatch(/1 × failed:environment: .*it printed more than 10485760 bytes/);
  expect(output).toMatch(/as asked +1\.000 \(.*\) +0\.\d+/);
});

test.each([
  [['train'], 'turnwise train needs ENVIRONMENT'],
  [['train', '--command', 'x'], '--command needs --tasks'],
  [['train', '--command', 'x', '--tasks', 'y.jsonl'], '--command needs --check'],
  [['train', 'maze', '--command', 'x'], 'takes an environment or --command, and not both'],
  [['train', 'maze', '--check', 'x'], '--check belongs to --command'],
  [
    ['eval', '--command', 'x', '--tasks', join(coder, 'tasks.jsonl'), '--check', 'z'],
    'Add --policy openai:URL#MODEL',
  ],
  [['eval', 'maze', '--tasks', 'y.jsonl'], 'Seen: y.jsonl'],
  [['play'], 'turnwise play needs ENVIRONMENT'],
  [['train', '--command', 'x', '--tasks', 'nowhere.jsonl', '--check', 'z'], 'Seen: --tasks nowhere.jsonl'],
])('%j names what to do', async (line, message) => {
  const { code, errors } = await turnwise(...line);
  expect(code).not.toBe(0);
  expect(errors.replaceAll(/\s+/g, ' ')).toContain(message);
  expect(existsSync('runs/command-rloo-1')).toBe(false);
});
