/** Models elsewhere, behind `--policy`: measured, recorded, and served with sessions over HTTP. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SessionKeys } from '../../server/gateway/session/session-keys.ts';
import { runCommandLine } from '../command-line.ts';
import { memoryConsole, noInterrupts } from '../testing-console.test-helper.ts';
import { evalCommand } from './eval.ts';
import { gatewayCommand } from './gateway.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-gateway-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let server: Server;
let url: string;
let status = 200;
/** Before it answers. */
let held: Promise<void> | undefined;
const asked: { readonly key: string | undefined; readonly messages: number }[] = [];

beforeEach(async () => {
  vi.stubEnv('OPENAI_API_KEY', 'sk-secret');
  status = 200;
  held = undefined;
  server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += String(part);
    const { messages } = JSON.parse(text) as { messages: unknown[] };
    asked.push({ key: request.headers.authorization, messages: messages.length });
    await held;
    const choices = [{ message: { role: 'assistant', content: '2' }, finish_reason: 'stop' }];
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(status === 200 ? { choices } : { error: { message: 'no such model' } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
afterEach(async () => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const lines = (path: string): string[] => readFileSync(path, 'utf8').trim().split('\n');
const commands = [evalCommand, gatewayCommand];

async function evaluate(...more: string[]) {
  const console = memoryConsole();
  const line = ['eval', 'guess-number', '--policy', `openai:${url}#small`, '--tasks', '4', ...more];
  const code = await runCommandLine(line, { commands, version: '0', console, interrupts: noInterrupts });
  return { code, output: console.output(), errors: console.errors().replaceAll(url, 'URL') };
}

test('a model elsewhere is measured on an environment, and its episodes are kept', async () => {
  const record = join(folder, 'episodes.jsonl');
  const { code, output } = await evaluate('--record', record);
  expect(code).toBe(0);
  expect(output).toMatch(/sampled +\d\.\d+ \(.*\n +greedy +\d\.\d+ \(/);
  expect(new Set(asked.map((call) => call.key))).toEqual(new Set(['Bearer sk-secret']));
  // Whoever reads messages is told everything each time.
  expect(Math.max(...asked.map((call) => call.messages))).toBeGreaterThan(2);
  const kept = lines(record);
  // Four tasks, sampled and greedy.
  expect(kept).toHaveLength(8);
  const row = JSON.parse(kept[0]!) as { messages: readonly object[]; source: object };
  // An example of the environment is shown, not learned.
  const answers = row.messages.filter((message) => 'role' in message && message.role === 'assistant');
  expect(answers[0]).toMatchObject({ weight: 0 });
  expect(answers.at(-1)).toEqual({ role: 'assistant', content: '2' });
  expect(row.source).toMatchObject({
    kind: 'eval',
    environment: 'guess-number',
    split: 'train',
    label: 'sampled',
  });
  expect(kept.join('')).not.toContain('sk-secret');
});

test('where nothing comes to an end there is no figure', async () => {
  status = 404;
  const { code, errors } = await evaluate();
  expect(code).toBe(1);
  expect(errors.replaceAll('\n', ' ')).toMatchInlineSnapshot(
    `"At most 48 calls. error: No episode of guess-number came to an end that counts. Seen: 4 × failed:policy: completing <episode>: The server behind the gateway did not answer as it should. Seen: status 404: no such model (URL/chat/completions). Check its URL, key and model name; the episode fails and is not learned from. Remove the cause, then measure again. (nothing-measured) "`,
  );
});

test('sessions over HTTP, kept when they end; Ctrl-C ends the gateway', async () => {
  const record = join(folder, 'sessions.jsonl');
  const console = memoryConsole();
  const interrupted = new AbortController();
  const served = runCommandLine(['gateway', '--policy', `openai:${url}`, '--port', '0', '--record', record], {
    commands,
    version: '0',
    console,
    interrupts: { ...noInterrupts, signal: interrupted.signal },
  });
  await vi.waitFor(() => expect(console.output()).toContain('curl'));
  const [, address, key] = /Listening at (\S+)\n +key +(\S+)/.exec(console.output())!;
  const post = async (to: string, with_: string, body: object): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${with_}` };
    const response = await fetch(to, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await response.json()) as Record<string, unknown>;
  };
  const session = await post(`${address}/sessions`, key!, { task: { number: 2 } });
  const ask = { model: 'policy', messages: [{ role: 'user', content: 'guess' }] };
  const answer = await post(`${session.base_url}/chat/completions`, session.api_key as string, ask);
  expect(answer).toMatchObject({ choices: [{ message: { content: '2' } }] });
  await post(`${address}/sessions/${session.id}/close`, session.api_key as string, { reward: 0.5 });
  await post(`${address}/sessions`, key!, {});
  interrupted.abort();
  expect(await served).toBe(0);
  const [closed, left] = lines(record).map((line) => JSON.parse(line) as object);
  expect(closed).toMatchObject({
    v: 1,
    messages: [...ask.messages, { role: 'assistant', content: '2' }],
    task: { number: 2 },
    reward: 0.5,
    success: true,
    source: { kind: 'gateway', split: 'train', episode: { step: 0, group: 0, member: 0 }, stop: 'done' },
  });
  // A session in which nothing was asked is no conversation.
  expect(left).toBeUndefined();
  const keys = await SessionKeys.after(record, 'gateway');
  expect(keys.next({ number: 2 })).toMatchObject({ group: 0, member: 1 });
  expect(keys.next({ number: 3 })).toMatchObject({ group: 1, member: 0 });
  await expect(fetch(`${address}/health`)).rejects.toThrow();
});

test('a gateway that is told to stop gives a call under way the time to be answered', async () => {
  let answer = (): void => undefined;
  held = new Promise((resolve) => {
    answer = resolve;
  });
  const console = memoryConsole();
  let stop = (): void => undefined;
  const served = runCommandLine(['gateway', '--policy', `openai:${url}`, '--port', '0'], {
    commands,
    version: '0',
    console,
    interrupts: {
      ...noInterrupts,
      soften: (tell) => {
        stop = tell;
        return () => false;
      },
    },
  });
  await vi.waitFor(() => expect(console.output()).toContain('curl'));
  const [, address, key] = /Listening at (\S+)\n +key +(\S+)/.exec(console.output())!;
  const post = (to: string, with_: string, body: object) =>
    fetch(to, {
      method: 'POST',
      headers: { authorization: `Bearer ${with_}` },
      body: JSON.stringify(body),
    });
  const session = (await (await post(`${address}/sessions`, key!, {})).json()) as Record<string, string>;
  const before = asked.length;
  const call = post(`${session.base_url}/chat/completions`, session.api_key!, {
    model: 'policy',
    messages: [{ role: 'user', content: 'guess' }],
  });
  await vi.waitFor(() => expect(asked.length).toBe(before + 1));
  stop();
  await vi.waitFor(() => expect(console.errors()).toContain('Finishing 1 calls'));
  // Calls that are not waited for are cut after 50 ms.
  await new Promise((resolve) => setTimeout(resolve, 200));
  answer();
  expect((await call).status).toBe(200);
  expect(await served).toBe(0);
});

test('limits and prices hold for a model elsewhere: beyond them a client is told, and the end says what was spent', async () => {
  const console = memoryConsole();
  const interrupted = new AbortController();
  const line = ['gateway', '--policy', `openai:${url}`, '--port', '0', '--max-calls', '2', '--price', '1,2'];
  const served = runCommandLine(line, {
    commands,
    version: '0',
    console,
    interrupts: { ...noInterrupts, signal: interrupted.signal },
  });
  await vi.waitFor(() => expect(console.output()).toContain('curl'));
  const [, address, key] = /Listening at (\S+)\n +key +(\S+)/.exec(console.output())!;
  const before = asked.length;
  const post = async (to: string, with_: string, body: object) => {
    const headers = { authorization: `Bearer ${with_}` };
    const response = await fetch(to, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const { body: session } = await post(`${address}/sessions`, key!, {});
  const ask = (content: string) =>
    post(`${session.base_url}/chat/completions`, session.api_key as string, {
      model: 'policy',
      messages: [{ role: 'user', content }],
    });
  expect([(await ask('a')).status, (await ask('b')).status]).toEqual([200, 200]);
  expect(await ask('c')).toMatchObject({ status: 400, body: { error: { code: 'spend_limit_reached' } } });
  expect(asked.length - before).toBe(2);
  interrupted.abort();
  expect(await served).toBe(0);
  expect(console.errors()).toContain('The limit of what models elsewhere may cost is reached');
  expect(console.errors()).toMatch(/2 calls, \d+ tokens read and \d+ written, \d+\.\d{4} spent\.\n$/);
});

test('a limit of what models elsewhere cost is refused where none is served', async () => {
  const console = memoryConsole();
  const line = ['gateway', '--model', 'some-model', '--max-calls', '5'];
  expect(await runCommandLine(line, { commands, version: '0', console, interrupts: noInterrupts })).toBe(2);
  expect(console.errors().replace(/\s+/g, ' ')).toContain('limit sessions with --session-calls');
});

const gatewayWith = (
  console: ReturnType<typeof memoryConsole>,
  signal: AbortSignal,
  set: readonly string[],
) =>
  runCommandLine(
    ['gateway', '--policy', `openai:${url}`, '--port', '0', ...set.flatMap((one) => ['--set', one])],
    { commands, version: '0', console, interrupts: { ...noInterrupts, signal } },
  );

test.each([
  ['context=full', [1, 3, 5]],
  ['context=latest', [1, 1, 1]],
  [join(import.meta.dirname, '../../rollout/context/contexts.ts'), [1, 1, 1]],
])('a session reads conversations as --set %s says', async (set, read) => {
  const console = memoryConsole();
  const interrupted = new AbortController();
  const named = set.includes('=') ? set : `context=${set}#latest`;
  const served = gatewayWith(console, interrupted.signal, [named]);
  await vi.waitFor(() => expect(console.output()).toContain('curl'), { timeout: 10_000 });
  const [, address, key] = /Listening at (\S+)\n +key +(\S+)/.exec(console.output())!;
  const opened = await fetch(`${address}/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: '{}',
  });
  const session = (await opened.json()) as { base_url: string; api_key: string };
  const client = new OpenAI({ baseURL: session.base_url, apiKey: session.api_key });
  asked.length = 0;
  const messages: OpenAI.ChatCompletionMessageParam[] = [];
  for (const content of ['one', 'two', 'three']) {
    messages.push({ role: 'user', content });
    const { choices } = await client.chat.completions.create({ model: 'policy', messages });
    messages.push({ role: 'assistant', content: choices[0]!.message.content });
  }
  expect(asked.map((call) => call.messages)).toEqual(read);
  interrupted.abort();
  expect(await served).toBe(0);
});

test.each([
  ['context=summery', 'Did you mean "summary"?'],
  ['context.threshold=100', 'context.threshold'],
  ['rollout.group=4', 'rollout.group'],
])('--set %s is refused before anything listens', async (set, told) => {
  const console = memoryConsole();
  expect(await gatewayWith(console, new AbortController().signal, [set])).toBe(2);
  expect(console.errors()).toContain(told);
  expect(console.output()).toBe('');
});

test('a GGUF file is served without a run, whole and streamed, to any OpenAI client', async () => {
  const console = memoryConsole();
  const interrupted = new AbortController();
  const model = join(import.meta.dirname, '../../../tests/gguf/good.gguf');
  const served = runCommandLine(['gateway', '--model', model, '--port', '0', '--runs', folder], {
    commands,
    version: '0',
    console,
    interrupts: { ...noInterrupts, signal: interrupted.signal },
  });
  await vi.waitFor(() => expect(console.output()).toContain('OPENAI_API_KEY'), { timeout: 20_000 });
  const [, baseURL, apiKey] = /OPENAI_BASE_URL=(\S+)\n +OPENAI_API_KEY=(\S+)/.exec(console.output())!;
  const client = new OpenAI({ baseURL: baseURL!, apiKey: apiKey! });
  const asked = {
    model: 'policy',
    temperature: 0,
    max_tokens: 12,
    messages: [{ role: 'user' as const, content: 'Hello 12' }],
  };
  const { choices, usage } = await client.chat.completions.create(asked);
  // <|im_start|>user, the text, <|im_end|>, and the beginning of the answer.
  expect(usage).toMatchObject({ prompt_tokens: 22 });
  const text = choices[0]!.message.content!;
  expect(usage!.completion_tokens).toBeGreaterThan(0);
  let streamed = '';
  for await (const { choices } of await client.chat.completions.create({ ...asked, stream: true })) {
    streamed += choices[0]?.delta.content ?? '';
  }
  expect(streamed).toBe(text);
  interrupted.abort();
  expect(await served).toBe(0);
}, 60_000);

test('a gateway serves one thing', async () => {
  const console = memoryConsole();
  const line = ['gateway', 'some-run', '--model', 'some-model'];
  expect(await runCommandLine(line, { commands, version: '0', console, interrupts: noInterrupts })).toBe(2);
  expect(console.errors().replaceAll('\n', ' ')).toContain('Seen: some-run and --model some-model.');
});

test('a gateway needs something to serve', async () => {
  const console = memoryConsole();
  expect(
    await runCommandLine(['gateway'], { commands, version: '0', console, interrupts: noInterrupts }),
  ).toBe(2);
  expect(console.errors().replaceAll('\n', ' ')).toMatchInlineSnapshot(
    `"error: The gateway needs a model that talks. Seen: neither a run nor --model nor --policy. Allowed: one of: a run that trained an agent, --model, --policy openai:URL or --policy vllm:URL. List runs with: turnwise runs. (policy-missing) "`,
  );
});
