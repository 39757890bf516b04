/** `turnwise play` of agents: every call of every conversation, while it happens. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../command-line.ts';
import { memoryConsole, noInterrupts } from '../testing-console.test-helper.ts';
import { playCommand } from './play.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-play-'));
const agent = join(folder, 'agent.ts');
const silent = join(folder, 'silent.ts');
const source = (name: string, more: string): string => `
import { defineAgent } from '${resolve(import.meta.dirname, '../../exports/index.ts')}';
export const agent = defineAgent({
  name: '${name}',
  tasks: () => [{ word: 'red' }, { word: 'blue' }],
  async run({ task, baseURL, apiKey, model, reward }) {
    const ask = async (messages, headers = {}) => {
      const response = await fetch(baseURL + '/chat/completions', {
        method: 'POST',
        headers: { authorization: 'Bearer ' + apiKey, 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ model, messages }),
      });
      if (!response.ok) throw new Error(await response.text());
      return (await response.json()).choices[0].message;
    };
    const first = { role: 'user', content: 'say ' + task.word };
    const answer = await ask([first]);
    await ask([{ role: 'user', content: 'plan' }], { 'x-turnwise-purpose': 'plan' });
    const last = await ask([first, answer, { role: 'user', content: 'again' }]);
    return { reward: last.content === task.word ? 1 : 0 };
  },
  ${more}
});
`;
writeFileSync(agent, source('talker', `demonstrate: ({ task }) => ({ content: task.word }),`));
writeFileSync(silent, source('silent', ''));

let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer(async (request, response) => {
    for await (const _ of request);
    const choices = [{ message: { role: 'assistant', content: 'blue' }, finish_reason: 'stop' }];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ choices, usage: { prompt_tokens: 1, completion_tokens: 1 } }));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `openai:http://127.0.0.1:${(server.address() as AddressInfo).port}/v1#gpt`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  rmSync(folder, { recursive: true, force: true });
});

async function play(...line: string[]): Promise<{ code: number; output: string; errors: string }> {
  const console = memoryConsole();
  const words = ['play', ...line, '--runs', join(folder, 'runs')];
  const code = await runCommandLine(words, {
    commands: [playCommand],
    version: '0',
    console,
    interrupts: noInterrupts,
  });
  return { code, output: console.output(), errors: console.errors().replaceAll('\n', ' ') };
}

test('its teacher plays it where nothing else does', async () => {
  const { output, errors } = await play(agent);
  expect(errors).toBe('');
  expect(output).toMatchInlineSnapshot(`
    "
    talker, test task 0 played by its teacher

    call 1
      say red
      › red

    call 2, conversation 2, plan
      plan
      › red

    call 3
      again
      › red

      ✓ solved, return 1.00, 2 turns
    "
  `);
});

test('a model elsewhere plays it, task after task', async () => {
  const { output } = await play(agent, '--policy', url, '--episodes', '2');
  expect(output.match(/^call \d/gm)).toHaveLength(6);
  expect(output).toContain('talker, test task 0 played by gpt@127.0.0.1');
  expect(output).toMatch(/✗ not solved, return 0.*[\s\S]*✓ solved, return 1/);
});

test('where nobody plays, the message says who could', async () => {
  const { code, errors } = await play(silent);
  expect(code).not.toBe(0);
  expect(errors).toContain('Nobody plays the agent silent');
  expect(errors).toContain('--policy openai:URL#MODEL');
});
