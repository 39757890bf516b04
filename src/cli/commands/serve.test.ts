/** `turnwise serve` and `env serve` as people start them: who gets in, with which key. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { runCommandLine } from '../command-line.ts';
import { memoryConsole, noInterrupts } from '../testing-console.test-helper.ts';
import { envCommand } from './env.ts';
import { serveCommand } from './serve.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-serve-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => vi.unstubAllEnvs());

/** What a command says, and the end of it. */
async function started(...line: string[]): Promise<{ said: string; stop: () => Promise<number> }> {
  const console = memoryConsole();
  const interrupted = new AbortController();
  const done = runCommandLine([...line, '--port', '0'], {
    commands: [serveCommand, envCommand],
    version: '0',
    console,
    interrupts: { ...noInterrupts, signal: interrupted.signal },
  });
  await vi.waitFor(() => expect(console.output() + console.errors()).toMatch(/Ctrl-C stops|error/), 20_000);
  const stop = (): Promise<number> => {
    interrupted.abort();
    return done;
  };
  return { said: console.output() + console.errors(), stop };
}

const small = ['serve', '--width', '8', '--layers', '1', '--heads', '2', '--checkpoints', folder];
const open = (url: string, headers: Record<string, string>): Promise<number> =>
  fetch(`${url}/api/v1/create_session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: '{}',
  }).then(({ status }) => status);

test('a key is made and printed where none is set; one that is set is not shown', {
  timeout: 60_000,
}, async () => {
  vi.stubEnv('TINKER_API_KEY', '');
  const made = await started(...small);
  const [, url, key] = /at (http:\S+)\nKey: (tml-[\w-]{32}) {2}\(made for this start/.exec(made.said)!;
  expect(await open(url!, {})).toBe(401);
  expect(await open(url!, { 'x-api-key': 'tml-other' })).toBe(401);
  expect(await open(url!, { 'x-api-key': key! })).toBe(200);
  expect(await made.stop()).toBe(0);

  vi.stubEnv('TINKER_API_KEY', 'tml-mine');
  const set = await started(...small);
  expect(set.said).toContain('Key: that of TINKER_API_KEY. Ctrl-C stops.');
  expect(set.said).not.toContain('tml-mine');
  expect(await open(/at (http:\S+)/.exec(set.said)![1]!, { 'x-api-key': 'tml-mine' })).toBe(200);
  expect(await set.stop()).toBe(0);
});

test('an environment asks for a key where it is told to, and beyond this machine only so', async () => {
  vi.stubEnv('TURNWISE_ENV_KEY', '');
  const refused = await started('env', 'serve', 'frozen-lake', '--host', '0.0.0.0');
  expect(refused.said.replaceAll('\n', ' ')).toContain('A server that others can reach needs a key.');
  expect(await refused.stop()).toBe(1);
  const free = await started('env', 'serve', 'frozen-lake', '--allow-host', 'box');
  expect(free.said).not.toContain('key');
  expect(await free.stop()).toBe(0);
  const asking = await started('env', 'serve', 'frozen-lake', '--host', '0.0.0.0', '--key');
  const [, port] = /turnwise:http:\/\/127\.0\.0\.1:(\d+)/.exec(asking.said)!;
  const [, key] = /key +(tw-\S+)/.exec(asking.said)!;
  const described = (headers: Record<string, string>): Promise<number> =>
    fetch(`http://127.0.0.1:${port}/v1/environment`, { headers }).then(({ status }) => status);
  expect(await described({})).toBe(401);
  expect(await described({ authorization: `Bearer ${key}` })).toBe(200);
  expect(await asking.stop()).toBe(0);
});
