/** An environment in Python behind our protocol: episodes, faults, sessions side by side, places reached again. Needs Python 3.9 alone. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Episode } from '../src/core/episode.ts';
import type { Json } from '../src/core/json/json.ts';
import { Rng } from '../src/core/rng.ts';
import { connectTurnwise } from '../src/env/remote/turnwise.ts';
import type { Session } from '../src/env/session.ts';
import type { World } from '../src/env/world.ts';
import { noIds } from '../src/model/chat/renderer.ts';
import { Lockstep } from '../src/policy/lockstep.ts';
import { scriptedPolicy } from '../src/policy/scripted.ts';
import { collectGroups } from '../src/rollout/collect.ts';
import { fullContext } from '../src/rollout/context/contexts.ts';
import { unwatched } from '../src/rollout/watch.ts';
import { hasPython, type PythonServer, startPythonServer } from './python-server.ts';

/** Adds what it is told to its seed and to dice of its own, and says how many of it are open. */
const ADDER = `
import random, time

class Adder:
    """Adds numbers up."""
    max_turns = 3
    open_ones = 0

    def __init__(self):
        Adder.open_ones += 1

    def reset(self, seed=None):
        self.total = 1000 * seed
        return f"total {self.total}", {}

    def draw_from(self, seed):
        self.dice = random.Random(seed)

    def step(self, action):
        if action == "fail":
            raise ValueError("asked to fail")
        if action == "open":
            return f"open {Adder.open_ones}", 0, False, False, {}
        if action == "slow":
            time.sleep(0.5)
        if action == "nan":
            return "", float("nan"), True, False, {}
        if action == "late":
            return "late", 0, False, True, {}
        self.total += 10 if action == "slow" else 100 * self.dice.randint(0, 9) if action == "roll" else int(action)
        return f"total {self.total}", 0.5, self.total % 10 == 7, False, {}

    def expert(self):
        return "fail" if self.total == 3000 else "7"

    def close(self):
        Adder.open_ones -= 1
`;

const folder = mkdtempSync(join(tmpdir(), 'turnwise-python-'));
const signal = new AbortController().signal;
let server: PythonServer;
let world: World;

async function connect(http: string): Promise<World> {
  const factory = await connectTurnwise('python', http);
  return factory.create(factory.options.parse({}));
}

beforeAll(async () => {
  if (!hasPython) return;
  writeFileSync(join(folder, 'adder.py'), ADDER);
  server = await startPythonServer([`${join(folder, 'adder.py')}:Adder`, '--pure', '--sessions', '3']);
  world = await connect(server.http);
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const open = async (index = 0, seed = 0, split: 'train' | 'test' = 'train'): Promise<Session> =>
  await world.open(world.tasks(split).at(index), Rng.of('test', seed));
const reads = (session: Session): string => session.observe('agent').at(-1)!.content;

async function play(indices: readonly number[]): Promise<readonly Episode[]> {
  const tasks = world.tasks('train');
  const groups = await collectGroups(
    indices.map((index) => {
      return { step: 1, group: index, split: 'train', index, task: tasks.at(index) as Json, members: 1 };
    }),
    {
      world,
      policy: scriptedPolicy(world, { player: () => 'expert', randomRate: 0 }),
      renderer: noIds,
      context: fullContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: world.maxTurns,
      contextLength: Number.POSITIVE_INFINITY,
      turnTimeoutMs: 10_000,
      seed: 7,
      signal,
      watch: unwatched,
      batching: new Lockstep(),
      concurrency: 3,
    },
  );
  return groups.flatMap(({ members }) => members);
}

/** With the environment's own count of itself, less the session that asks. */
async function openOnes(): Promise<number> {
  const session = await open();
  await session.step('open', signal);
  const [, count] = /open (\d+)/.exec(reads(session))!;
  await session.close();
  return Number(count) - 1;
}

const why = hasPython ? '' : ' (left out: there is no python3 of 3.9 or later; TURNWISE_PYTHON can name one)';
describe.skipIf(!hasPython)(`an environment in Python${why}`, () => {
  test('is described as its class says', () => {
    expect(world).toMatchObject({
      name: 'Adder',
      description: 'Adds numbers up.',
      roles: ['agent'],
      maxTurns: 3,
      snapshots: 'free',
    });
    expect(world.tasks('test').size).toBe(Number.POSITIVE_INFINITY);
  });

  test('plays an episode: tasks are seeds that no two splits share, rewards and success are told', async () => {
    const [first, other] = [await open(2), await open(2, 0, 'test')];
    expect([reads(first), reads(other)]).toEqual(['total 6000', 'total 8000']);
    expect(await first.step('1', signal)).toMatchObject({ rewards: { agent: 0.5 }, done: false });
    expect([reads(first), first.toMove()]).toEqual(['total 6001', 'agent']);
    expect(await first.step('6', signal)).toMatchObject({
      done: true,
      success: { agent: true },
      valid: true,
    });
    expect(first.toMove()).toBeUndefined();
    await expect(first.step('1', signal)).rejects.toThrow('The episode is over.');
    await Promise.all([first.close(), other.close()]);
  });

  test('time that ran out ends an episode before the limit of turns, and is left to the trainer at it', async () => {
    const session = await open();
    expect(await session.step('late', signal)).toMatchObject({ done: true, success: { agent: false } });
    await session.close();
    const longer = await open();
    await longer.step('0', signal);
    await longer.step('0', signal);
    expect(await longer.step('late', signal)).toMatchObject({ done: false });
    await longer.close();
  });

  test('an exception in a step is a failed episode, and the others and the server go on', async () => {
    const episodes = await play([0, 1, 2]);
    expect(episodes.map(({ stop }) => stop)).toEqual(['done', 'failed:environment', 'done']);
    expect(episodes[1]!.failure).toContain('ValueError: asked to fail');
    expect(server.errors()).toContain('ValueError: asked to fail');
    expect(episodes[0]!.transitions[0]!.rewards).toEqual({ agent: 0.5 });
    expect(await openOnes()).toBe(0);
  });

  test('a reward that is no number is a failure', async () => {
    const session = await open();
    await expect(session.step('nan', signal)).rejects.toThrow('status 500');
    await session.close();
    expect(await openOnes()).toBe(0);
  });

  test('two sessions at once do not mix, and neither waits for the other', async () => {
    const [left, right] = [await open(1), await open(2)];
    const slow = left.step('slow', signal);
    const [started, before] = [performance.now(), await right.step('2', signal)];
    expect(performance.now() - started).toBeLessThan(400);
    expect(before.done).toBe(false);
    await slow;
    expect([reads(left), reads(right)]).toEqual(['total 3010', 'total 6002']);
    await Promise.all([left.close(), right.close()]);
  });

  test('closing does not wait for a step, which ends its session when it is through', async () => {
    const session = await open();
    const slow = session.step('slow', signal);
    await expect.poll(openOnes).toBe(1);
    const started = performance.now();
    await session.close();
    expect(performance.now() - started).toBeLessThan(300);
    await slow;
    await expect.poll(openOnes).toBe(0);
  });

  test('a full server has no room until a session is closed', async () => {
    const sessions = await Promise.all([open(), open(), open()]);
    const factory = await connectTurnwise('python', server.http);
    const hasty = factory.create(factory.options.parse({ timeoutMs: 200 }));
    const another = (): Promise<Session> =>
      Promise.resolve(hasty.open(hasty.tasks('train').at(0), Rng.of('test', 1)));
    await expect(another()).rejects.toThrow('status 503: 3 sessions are open; start with more --sessions.');
    await sessions[0]!.close();
    await (await another()).close();
    await Promise.all(sessions.map((session) => session.close()));
    expect(await openOnes()).toBe(0);
  });

  test('chance is that of the episode, and a place is reached again, with its chance or with another', async () => {
    const totals = async (session: Session): Promise<string> => {
      await session.step('roll', signal);
      await session.close();
      return reads(session);
    };
    const rolled = await Promise.all([0, 1, 2].map(async (seed) => totals(await open(1, seed))));
    expect(new Set(rolled).size).toBeGreaterThan(1);
    expect(await totals(await open(1, 0))).toBe(rolled[0]);

    const origin = await open(1, 0);
    await origin.step('1', signal);
    const place = await origin.snapshot!();
    const expected = await totals(origin);
    expect(await totals(await place.open())).toBe(expected);
    const others = [];
    for (const seed of [0, 1, 2, 3])
      others.push(await totals(await place.open({ chance: Rng.of('o', seed) })));
    expect(new Set(others).size).toBeGreaterThan(1);
  });
});

describe.skipIf(!hasPython)(`requests to the Python server${why}`, () => {
  const send = (path: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(`${server.http}${path}`, {
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    });
  const opened = async (body: object, headers = {}): Promise<string> =>
    ((await (await send('/v1/sessions', body, headers)).json()) as { session: string }).session;

  test.each([
    ['no JSON', '{', 400],
    ['too deep', '['.repeat(100_000), 400],
    ['no object', [], 400],
    ['no index', {}, 400],
    ['an index that is text', { index: '0' }, 400],
    ['a split that there is not', { index: 0, split: 'best' }, 400],
    ['a path that is none', { index: 0, path: [{ actions: [1] }] }, 400],
    ['a lease of nothing', { index: 0, leaseMs: 0 }, 400],
  ])('%s is refused', async (_, body, status) => {
    const answer = await send('/v1/sessions', body);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ error: { code: 'request-invalid' } });
  });

  test('a step is taken once: asked again it has the same answer, and others are refused', async () => {
    const id = await opened({ index: 1, seed: 1 });
    const step = (number: number, text: string) => send(`/v1/sessions/${id}/step`, { step: number, text });
    const first = await (await step(0, ' 2 ')).text();
    expect(first).toContain('total 3002');
    expect(await (await step(0, '2')).text()).toBe(first);
    expect([(await step(0, '3')).status, (await step(2, '3')).status]).toEqual([409, 409]);
    expect((await fetch(`${server.http}/v1/sessions/${id}`, { method: 'DELETE' })).status).toBe(204);
    expect((await fetch(`${server.http}/v1/sessions/${id}`, { method: 'DELETE' })).status).toBe(404);
    expect((await step(1, '3')).status).toBe(404);
  });

  test('the same key opens the same session, and a silent one ends', async () => {
    const key = { 'idempotency-key': 'twice' };
    const [one, same] = [
      await opened({ index: 0, leaseMs: 300 }, key),
      await opened({ index: 0, leaseMs: 300 }, key),
    ];
    expect(same).toBe(one);
    expect((await send('/v1/sessions', { index: 1 }, key)).status).toBe(409);
    await expect.poll(async () => await openOnes(), { timeout: 10_000, interval: 300 }).toBe(0);
    expect((await send(`/v1/sessions/${one}`)).status).toBe(404);
  });

  test('pages in a browser are refused, and so are clients without the key', async () => {
    expect((await send('/v1/environment', undefined, { origin: 'http://evil.example' })).status).toBe(403);
    const locked = await startPythonServer([`${join(folder, 'adder.py')}:Adder`], {
      environment: { TURNWISE_ENV_KEY: 'secret' },
    });
    try {
      const ask = (authorization: string) =>
        fetch(`${locked.http}/v1/environment`, { headers: { authorization } }).then(({ status }) => status);
      expect([await ask('Bearer secret'), await ask('Bearer other')]).toEqual([200, 401]);
    } finally {
      await locked.stop();
    }
  });

  test('it does not listen to the network without a key', async () => {
    const line = [`${join(folder, 'adder.py')}:Adder`, '--host', '0.0.0.0'];
    const refused = startPythonServer(line, { environment: { TURNWISE_ENV_KEY: '' } });
    await expect(refused).rejects.toThrow('Beyond this machine a server needs a key');
  });
});
