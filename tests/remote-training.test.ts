/** `turnwise train` over the protocols of others, end to end: by scripts, by recorded actions, and with a model that reads already. */

import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { world as frozenLake } from '../envs/frozen-lake/index.ts';
import { runCommandLine } from '../src/cli/command-line.ts';
import { trainCommand } from '../src/cli/commands/train.ts';
import { memoryConsole, noInterrupts } from '../src/cli/testing-console.test-helper.ts';
import { serveEnvironment } from '../src/server/environment/serve.ts';
import { readEpisodeFile } from '../src/store/rollouts/read-episodes.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-remote-training-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

type Body = Readonly<Record<string, unknown>>;

async function httpServer(
  answer: (path: string, body: Body) => unknown,
  headers: Record<string, string> = {},
): Promise<string> {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request as AsyncIterable<Buffer>) text += chunk;
    const said = answer(request.url ?? '', (text === '' ? {} : JSON.parse(text)) as Body);
    response.writeHead(said === undefined ? 404 : 200, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(said ?? { detail: 'Not Found' }));
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const settings = {
  steps: 2,
  threads: 1,
  'clone.demonstrations': 24,
  'clone.steps': 60,
  'clone.batch': 24,
  'clone.learningRate': 1e-2,
  'clone.randomRate': 0,
  'rollout.tasks': 4,
  'rollout.group': 4,
  // Where the clone solves everything there is nothing else to learn from.
  'objective.entropyCoefficient': 0.01,
  'evaluation.every': 0,
  'evaluation.finalTasks': 8,
};
const small = { 'model.width': 32, 'model.hidden': 64, 'model.layers': 1, 'model.heads': 2 };

/** Events of a run that must end well. */
async function train(
  name: string,
  address: string,
  more: Readonly<Record<string, string | number>>,
  model: readonly string[] = [],
): Promise<Record<string, unknown>[]> {
  const console = memoryConsole();
  const set = Object.entries({ ...settings, ...more }).flatMap(([key, value]) => [
    '--set',
    `${key}=${value}`,
  ]);
  const line = ['train', address, '--name', name, '--runs', folder, ...model, ...set];
  const context = { commands: [trainCommand], version: '0.1.0', console, interrupts: noInterrupts };
  const code = await runCommandLine(line, context);
  expect([code, console.errors()]).toEqual([0, expect.not.stringContaining('error')]);
  return readFileSync(join(folder, name, 'events.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text) as Record<string, unknown>);
}

/** Of held-out tasks, sampled: after imitation, and after reinforcement learning. */
function success(events: readonly Record<string, unknown>[]): number[] {
  const { summary } = events.at(-1) as {
    summary: Record<'before' | 'after', { sampled: { success: number } }>;
  };
  return [summary.before.sampled.success, summary.after.sampled.success];
}

function jsonLines(name: string, rows: readonly object[]): string {
  const path = join(folder, name);
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return path;
}

test('openenv: an environment of ours, its experts imitated over the socket', {
  timeout: 60_000,
}, async () => {
  const world = frozenLake.create(frozenLake.options.parse({}));
  const server = await serveEnvironment({ world, port: 0, settings: frozenLake.settings! });
  try {
    const events = await train('lake', `openenv:ws://127.0.0.1:${server.port}`, small);
    // Chance alone reaches the goal in one of twenty.
    expect(Math.min(...success(events))).toBeGreaterThanOrEqual(0.25);
  } finally {
    await server.close();
  }
});

test('turnwise: chance hangs on what the server says it is: as at home, at every port', {
  timeout: 60_000,
}, async () => {
  const world = frozenLake.create(frozenLake.options.parse({}));
  const quick = { ...small, 'clone.steps': 10, 'model.width': 16 };
  const outcomes: string[] = [];
  const played = (name: string): void => {
    const stored = [1, 2].flatMap((step) => [
      ...readEpisodeFile(join(folder, name, 'rollouts', `${step}.jsonl.gz`))!.groups,
    ]);
    outcomes.push(
      JSON.stringify(
        stored.flatMap(({ members }) =>
          members.map(({ key, calls, transitions, outcome }) => [
            key,
            calls.map(({ text, logprobs }) => [text, [...logprobs]]),
            transitions.map(({ anchor, rewards }) => [anchor, rewards]),
            outcome,
          ]),
        ),
      ),
    );
  };
  await train('home', 'frozen-lake', quick);
  played('home');
  for (const name of ['here', 'there']) {
    const server = await serveEnvironment({ world, port: 0, settings: frozenLake.settings! });
    try {
      await train(name, `turnwise:http://127.0.0.1:${server.port}`, quick);
    } finally {
      await server.close();
    }
    played(name);
  }
  expect(outcomes[0]).toContain('"environment":"frozen-lake"');
  expect(outcomes[1]).toBe(outcomes[0]);
  expect(outcomes[2]).toBe(outcomes[0]);
});

const THINGS = ['stick', 'door', 'boat', 'sign'] as const;

/** Like TextCraft: a goal, and one action that reaches it. */
function craftServer(): Promise<string> {
  const goals = new Map<number, string>();
  return httpServer((path, { id, data_idx, action }) => {
    if (path === '/') return 'ok';
    if (path === '/create')
      return { id: goals.set(goals.size, '').size - 1, observation: '', done: false, reward: 0 };
    if (path === '/reset') {
      const goal = THINGS[(data_idx as number) % THINGS.length]!;
      goals.set(id as number, goal);
      return { id, observation: `Goal: craft ${goal}.`, done: false, reward: 0 };
    }
    if (path === '/close') return true;
    if (path !== '/step') return undefined;
    const done = action === `craft ${goals.get(id as number)}`;
    return { observation: done ? 'Crafted' : 'Could not', reward: done ? 1 : 0, done };
  });
}

const crafted = (count: number): object[] =>
  Array.from({ length: count }, (_, task) => ({ task, actions: [`craft ${THINGS[task % THINGS.length]}`] }));

test('agentgym: recorded actions are played, imitated and improved on', { timeout: 60_000 }, async () => {
  const url = await craftServer();
  const demonstrations = jsonLines('craft.jsonl', crafted(8));
  const events = await train('craft', `agentgym:${url}#textcraft`, {
    ...small,
    'environment.demonstrations': demonstrations,
    'environment.maxTurns': 3,
  });
  expect(success(events)).toEqual([1, 1]);
});

test('nemo: the same, with tools and a verifier', { timeout: 60_000 }, async () => {
  const url = await httpServer(
    (path, body) => {
      if (path === '/seed_session') return {};
      if (path === '/look_up') return THINGS[body.number as number];
      if (path !== '/verify') return undefined;
      const { output } = body.response as { output: { content?: { text: string }[] }[] };
      return { ...body, reward: output.at(-1)?.content?.[0]?.text === body.expected ? 1 : 0 };
    },
    { 'set-cookie': 'session=one; Path=/' },
  );
  const schema = { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] };
  const tools = [{ type: 'function', name: 'look_up', parameters: schema, strict: true }];
  const rows = Array.from({ length: 40 }, (_, index) => {
    const number = Math.floor(index / 10);
    const input = [{ role: 'user', content: `Which thing is number ${number} ?` }];
    return { responses_create_params: { input, tools }, expected: THINGS[number], number };
  });
  const solutions = rows
    .filter((_, index) => index % 10 > 1)
    .map(({ number, expected }, task) => ({
      task,
      actions: [{ name: 'look_up', arguments: { number } }, expected],
    }));
  const events = await train('tools', `nemo:${url}`, {
    ...small,
    'environment.data': jsonLines('tasks.jsonl', rows),
    'environment.demonstrations': jsonLines('solutions.jsonl', solutions),
    'environment.maxTurns': 4,
  });
  expect(Math.min(...success(events))).toBeGreaterThanOrEqual(0.5);
});

test('a model that reads already needs no demonstrations', { timeout: 60_000 }, async () => {
  const parity = new URL('hf-parity/', import.meta.url).pathname;
  const model = join(folder, 'model');
  // Random weights of a small Qwen3, with its tokenizer and template beside them as in every checkpoint folder.
  cpSync(join(parity, 'qwen3', 'bf16'), model, { recursive: true });
  for (const file of ['tokenizer.json', 'tokenizer_config.json']) {
    cpSync(join(parity, 'tokenizer-qwen', file), join(model, file));
  }
  const pretrained = {
    'environment.maxTurns': 2,
    'chat.maxTurnTokens': 4,
    'chat.contextLength': 512,
    'clone.steps': 0,
    'rollout.tasks': 2,
    'rollout.group': 2,
    'evaluation.finalTasks': 2,
  };
  const address = `agentgym:${await craftServer()}#textcraft`;
  const events = await train('pretrained', address, pretrained, ['--model', model]);
  expect(events.filter(({ type }) => type === 'step')).toHaveLength(2);
});
