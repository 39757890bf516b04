/**
 * Environments on the other side of a wire are the same environments: equal episodes, and equal training, bit for bit, where
 * they go by the same name. The name is part of an episode's key, and so of its chance.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { world as frozenLake } from '../envs/frozen-lake/index.ts';
import { world as guessNumber } from '../envs/guess-number/index.ts';
import { world as jsTasks } from '../envs/js-tasks/index.ts';
import { world as kuhnPoker } from '../envs/kuhn-poker/index.ts';
import type { Episode } from '../src/core/episode.ts';
import type { Json } from '../src/core/json/json.ts';
import type { WorldFactory } from '../src/env/factory.ts';
import { connectOpenEnv } from '../src/env/remote/openenv.ts';
import { connectTurnwise } from '../src/env/remote/turnwise.ts';
import type { World } from '../src/env/world.ts';
import { noIds } from '../src/model/chat/renderer.ts';
import { Lockstep } from '../src/policy/lockstep.ts';
import { scriptedPolicy } from '../src/policy/scripted.ts';
import { collectGroups } from '../src/rollout/collect.ts';
import { fullContext } from '../src/rollout/context/contexts.ts';
import { unwatched } from '../src/rollout/watch.ts';
import { startRun } from '../src/run/training-run.ts';
import { type EnvironmentServer, serveEnvironment } from '../src/server/environment/serve.ts';
import type { RunEvent } from '../src/train/loop/events.ts';

const servers: EnvironmentServer[] = [];
let runs: string;
beforeAll(() => {
  runs = mkdtempSync(join(tmpdir(), 'turnwise-remote-'));
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
  rmSync(runs, { recursive: true, force: true });
});

const create = (factory: WorldFactory, options: object = {}): World =>
  factory.create(factory.options.parse(options) as never);

async function serve(world: World): Promise<{ http: string; ws: string; server: EnvironmentServer }> {
  const server = await serveEnvironment({ world, port: 0, settings: frozenLake.settings! });
  servers.push(server);
  return { http: `http://127.0.0.1:${server.port}`, ws: `ws://127.0.0.1:${server.port}`, server };
}

/** Episodes by scripts, without their tasks and what the clock said. */
async function play(world: World, script: World = world): Promise<Timeless[]> {
  const tasks = world.tasks('test');
  const groups = await collectGroups(
    Array.from({ length: 12 }, (_, index) => ({
      step: 1,
      group: index,
      split: 'test' as const,
      index: index % tasks.size,
      task: tasks.at(index % tasks.size) as Json,
      members: 2,
    })),
    {
      world,
      policy: scriptedPolicy(script, { player: () => 'expert', randomRate: 0.5 }),
      renderer: noIds,
      context: fullContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: world.maxTurns,
      contextLength: Number.POSITIVE_INFINITY,
      turnTimeoutMs: 10_000,
      seed: 7,
      signal: new AbortController().signal,
      watch: unwatched,
      batching: new Lockstep(),
      concurrency: 8,
    },
  );
  return groups.flatMap(({ members }) => members).map(withoutTimes);
}

/** A task is the server's own: behind a wire only its number is known, which is in the key. */
function withoutTimes({ calls, transitions, task: _, ...rest }: Episode) {
  return {
    ...rest,
    calls: calls.map(({ at: _, waitMs: __, policyMs: ___, ...call }) => call),
    transitions: transitions.map(({ at: _, environmentMs: __, ...transition }) => transition),
  };
}
type Timeless = ReturnType<typeof withoutTimes>;

describe('our own protocol', () => {
  test.each([
    ['chance in every step', frozenLake, { slip: 0.3 }],
    ['more than one role', kuhnPoker, {}],
    ['actions of several words', guessNumber, {}],
    ['live sessions in a sandbox', jsTasks, {}],
  ])('plays the same episodes: %s', async (_, factory: WorldFactory, options) => {
    const local = create(factory, options);
    const { http, server } = await serve(local);
    const remote = create((await connectTurnwise(local.name, http)) as WorldFactory);
    const episodes = await play(local);
    expect(episodes.some(({ transitions }) => transitions.length > 1)).toBe(true);
    expect(await play(remote)).toEqual(episodes);
    expect(server.openSessions()).toBe(0);
  });

  test('trains to the same numbers', { timeout: 60_000 }, async () => {
    const slippery = create(frozenLake as WorldFactory, { slip: 0.2 });
    const { http } = await serve(slippery);
    const local: WorldFactory = { ...(frozenLake as WorldFactory), create: () => slippery };
    const remote = (await connectTurnwise(slippery.name, http)) as WorldFactory;
    expect(await train(remote, 'remote')).toEqual(await train(local, 'local'));
  });
});

/** The server's scripts cannot be asked over OpenEnv, so both sides repeat the words of one player. */
const reciting = (world: World): World => ({
  ...world,
  script: (_session, _kind, rng) => rng.pick(['up', 'right', 'jump', 'down', 'left', 'right']),
});

describe('OpenEnv', () => {
  test('plays the same episodes over its WebSocket', async () => {
    const local = create(frozenLake as WorldFactory, { slip: 0.3 });
    const { ws, server } = await serve(local);
    const remote = create((await connectOpenEnv(local.name, ws)) as WorldFactory, { maxTurns: 12 });
    const episodes = await play(reciting(local));
    const distant = await play(reciting(remote));
    // Anchors are the server's own; over OpenEnv the client makes them from what it was shown. Facts stay at the server.
    const shown = (list: readonly Timeless[]): unknown =>
      list.map(({ transitions, ...rest }) => ({
        ...rest,
        transitions: transitions.map(({ anchor: _, facts: __, notes: ___, ...transition }) => transition),
      }));
    expect(shown(distant)).toEqual(shown(episodes));
    expect(episodes[0]!.transitions[0]!.facts).toBeDefined();
    expect(distant.some(({ transitions }) => transitions.some(({ facts, notes }) => facts ?? notes))).toBe(
      false,
    );
    expect(distant.some(({ success }) => success.agent)).toBe(true);
    await until(() => server.openSessions() === 0);
  });

  test('trains to the same numbers', { timeout: 60_000 }, async () => {
    const slippery = create(frozenLake as WorldFactory, { slip: 0.2 });
    const { ws } = await serve(slippery);
    const distant = await connectOpenEnv(slippery.name, ws);
    const remote = create(distant as WorldFactory, { maxTurns: slippery.maxTurns });
    const factoryOf = (world: World): WorldFactory => ({
      ...(frozenLake as WorldFactory),
      create: () => reciting(world),
    });
    expect(await train(factoryOf(remote), 'remote-openenv')).toEqual(
      await train(factoryOf(slippery), 'local-openenv'),
    );
  });
});

/** Metrics of a short run, without what the clock said. */
async function train(factory: WorldFactory, name: string): Promise<unknown> {
  const events: RunEvent[] = [];
  await startRun({
    factory,
    recipe: 'rloo',
    name,
    root: runs,
    settings: {
      steps: 2,
      threads: 1,
      clone: { demonstrations: 24, steps: 4 },
      rollout: { tasks: 4, group: 4 },
      // So that there is something to learn from where all members of a group fare alike.
      objective: { entropyCoefficient: 0.01 },
      evaluation: { every: 0, tasks: 16, finalTasks: 16 },
      model: { width: 32, hidden: 64, layers: 1, heads: 2 },
    } as never,
    report: (event) => {
      events.push(event);
    },
    signal: new AbortController().signal,
    stopRequested: () => false,
  });
  const steps = events
    .filter(({ type }) => type === 'step')
    .map((event) => (event as { metrics: Record<string, number> }).metrics);
  expect(steps).toHaveLength(2);
  expect(steps.some((metrics) => metrics['tokens/trained']! > 0)).toBe(true);
  return steps.map((metrics) => Object.entries(metrics).filter(([key]) => !/^(time|speed|loop)\//.test(key)));
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 2000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('waited for 2 s');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
