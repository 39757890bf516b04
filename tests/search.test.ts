/** Search at training: a setting of many recipes, here and behind an address; worlds that repeat branch, others are refused. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { chain } from '../bench/methods/environments/chain.ts';
import { duet } from '../bench/methods/environments/duet.ts';
import type { Episode } from '../src/core/episode.ts';
import { keyText } from '../src/core/episode-key.ts';
import { fromEnvironment } from '../src/env/from-environment.ts';
import { connectTurnwise } from '../src/env/remote/turnwise.ts';
import type { World } from '../src/env/world.ts';
import { defineSession, type Probe, type RunSettings } from '../src/exports/index.ts';
import { bestOfNExplorer, bestOfTurns } from '../src/exports/recipes.ts';
import { resume, start, train } from '../src/exports/train.ts';
import { serveEnvironment } from '../src/server/environment/serve.ts';
import { readEvents } from '../src/store/log-lines.ts';
import { trainingShard } from '../src/store/rollouts/shard-names.ts';
import { RunDirectory } from '../src/store/run-directory.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-search-'));
afterAll(() => rmSync(runs, { recursive: true, force: true }));

const settings = {
  steps: 2,
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 32 },
  clone: { demonstrations: 32, steps: 4, batch: 8 },
  rollout: { tasks: 3, group: 6 },
  branching: { explorer: 'mcts', width: 2 },
  evaluation: { every: 0, finalTasks: 4 },
} satisfies RunSettings;

const doors = (): World => fromEnvironment(chain({ doors: 2, turns: 3, words: 2 }));

async function episodesOf(name: string): Promise<Episode[]> {
  const reader = RunDirectory.openForReading({ root: runs, name, version: '0.1.0' }).readRollouts();
  const episodes: Episode[] = [];
  for (const step of reader.index.steps())
    for await (const { members } of reader.groups(trainingShard(step))) episodes.push(...members);
  return episodes;
}

const told = ({ key, branchedFrom, calls, transitions, outcome, stop }: Episode) => ({
  ...{ key: keyText(key), branchedFrom, outcome, stop },
  said: calls.map(({ ids }) => [...ids]),
  done: transitions.map(({ anchor, action, rewards }) => [anchor, action, rewards]),
});

type Metrics = Readonly<Record<string, number>> & { readonly spent: number };

const metricsOf = (name: string): Metrics[] =>
  readEvents(join(runs, name, 'events.jsonl')).flatMap((event) =>
    event.type === 'step' ? [{ ...event.metrics, spent: event.spent.turns }] : [],
  );

test.each([
  ['mcts', 'agent-q'],
  ['mcts', 'grpo'],
  ['program-tree', 'rloo'],
  ['reset-to-turn', 'rebel'],
] as const)(
  '%s composes with %s: whole episodes that branch',
  { timeout: 60_000 },
  async (explorer, recipe) => {
    const name = `${explorer}-${recipe}`;
    const own = { ...settings, branching: { ...settings.branching, explorer } };
    await train({ world: doors(), recipe, name, runs, settings: own });
    const episodes = await episodesOf(name);
    expect(episodes.some(({ branchedFrom }) => branchedFrom)).toBe(true);
    expect(new Set(episodes.map(({ stop }) => stop))).toEqual(new Set(['done']));
    // Each is played twice where each is played again.
    const twice = explorer === 'reset-to-turn' ? 2 : 1;
    expect(episodes).toHaveLength(2 * 3 * 6 * twice);
  },
);

describe('tree search against best of n, at equal steps of the environment', () => {
  const turns = 300;
  const arm = (explorer: 'mcts' | 'none'): RunSettings => ({
    ...settings,
    steps: 60,
    budget: { turns },
    rollout: { tasks: 3, group: 8 },
    branching: { explorer, width: 2 },
    optimizer: { learningRate: 5e-3 },
    evaluation: { every: 0, finalTasks: 40 },
  });

  test('as much is spent, and search plays more episodes with it, since they share their beginnings', {
    timeout: 120_000,
  }, async () => {
    const episodes: Record<string, number> = {};
    for (const explorer of ['mcts', 'none'] as const) {
      const name = `equal-${explorer}`;
      await train({ world: doors(), recipe: 'agent-q', name, runs, settings: arm(explorer) });
      const metrics = metricsOf(name);
      const spent = metrics.at(-1)!.spent;
      // The last step may go beyond the budget, and by no more than itself.
      expect(spent).toBeGreaterThanOrEqual(turns);
      expect(spent - metrics.at(-1)!['turns/total']!).toBeLessThan(turns);
      episodes[explorer] = metrics.reduce((sum, own) => sum + own['episodes/total']!, 0) / spent;
      expect(metrics.reduce((sum, own) => sum + own['preference/examples']!, 0)).toBeGreaterThan(0);
    }
    expect(episodes.mcts).toBeGreaterThan(1.2 * episodes.none!);
  });

  test('behind an address it plays the same, and leaves nothing open', { timeout: 120_000 }, async () => {
    const own = { ...arm('mcts'), budget: { turns: 120 } };
    const server = await serveEnvironment({ world: doors(), port: 0 });
    try {
      const remote = await connectTurnwise('chain', `http://127.0.0.1:${server.port}`);
      const world = remote.create(remote.options.parse({}));
      await train({ world, recipe: 'agent-q', name: 'there', runs, settings: own });
      expect(server.openSessions()).toBe(0);
      expect(server.metrics()).toMatch(/snapshots_held\{.*\} 0/);
    } finally {
      await server.close();
    }
    await train({ world: doors(), recipe: 'agent-q', name: 'here', runs, settings: own });
    expect((await episodesOf('there')).map(told)).toEqual((await episodesOf('here')).map(told));
  });
});

test('a search goes on from a checkpoint as if it had never stopped', { timeout: 120_000 }, async () => {
  const own = { ...settings, steps: 3, checkpoint: { every: 1 } };
  await train({ world: doors(), recipe: 'agent-q', name: 'unbroken', runs, settings: own });
  const run = await start({ world: doors(), recipe: 'agent-q', name: 'broken', runs, settings: own });
  for await (const event of run.events) if (event.type === 'step' && event.step === 1) run.stop();
  await run.finished.catch(() => undefined);
  await (await resume('broken', { runs, world: doors() })).finished;
  expect((await episodesOf('broken')).map(told)).toEqual((await episodesOf('unbroken')).map(told));
});

test('an evaluation searches with the critic of the recipe', { timeout: 60_000 }, async () => {
  const search = { explorer: bestOfNExplorer({ width: 3 }), choose: bestOfTurns };
  const probe: Probe = {
    name: 'best-of-3',
    run: async (learner) => {
      const plain = await learner.evaluate({ tasks: 6 });
      const { turns, searched = 0, episodes } = await learner.evaluate({ tasks: 6, search });
      return { metrics: { turns, searched, episodes, plain: plain.searched ?? 0 } };
    },
  };
  const { branching: _, ...own } = settings;
  await train({ world: doors(), recipe: 'ppo', name: 'probed', runs, settings: own, probes: [probe] });
  for (const metrics of metricsOf('probed')) {
    expect(metrics['best-of-3/searched']).toBeCloseTo(3 * metrics['best-of-3/turns']!, 6);
    expect([metrics['best-of-3/episodes'], metrics['best-of-3/plain']]).toEqual([6, 0]);
  }
});

describe('live sessions', () => {
  /** The same doors, with nothing that holds a place. */
  function live(repeats: boolean) {
    const inner = doors();
    let open = 0;
    let opened = 0;
    const world = defineSession({
      ...{ name: inner.name, maxTurns: inner.maxTurns, facts: inner.facts ?? [], protocol: inner.protocol },
      ...(repeats && { repeats: true as const }),
      tasks: (split) => inner.tasks(split),
      ...(inner.script && { script: inner.script }),
      open: async (task, rng, startRng, signal) => {
        const session = await inner.open(task, rng, startRng, signal);
        open++;
        opened++;
        return new Proxy(session, {
          get: (target, name) => {
            if (name === 'snapshot') return undefined;
            if (name === 'close')
              return async () => {
                open--;
                await target.close();
              };
            const own: unknown = Reflect.get(target, name, target);
            return typeof own === 'function' ? own.bind(target) : own;
          },
        });
      },
    });
    return { world, open: () => open, opened: () => opened };
  }

  test('that repeat what is done again branch by doing it again, and are all closed', {
    timeout: 120_000,
  }, async () => {
    const { world, open, opened } = live(true);
    await train({ world, recipe: 'agent-q', name: 'repeated', runs, settings });
    expect(open()).toBe(0);
    expect(opened()).toBeGreaterThan(2 * 3 * 6);
    await train({ world: doors(), recipe: 'agent-q', name: 'held', runs, settings });
    expect((await episodesOf('repeated')).map(told)).toEqual((await episodesOf('held')).map(told));
  });

  test('that neither repeat nor hold places are refused before anything runs, with the reason', async () => {
    const { world, opened } = live(false);
    const run = train({ world, recipe: 'agent-q', name: 'refused', runs, settings });
    await expect(run).rejects.toThrow(
      /it needs an environment whose episodes can branch \(a pure one, one that repeats what is done again, or one whose sessions have snapshots; branching\.explorer=mcts has them branch\)/,
    );
    expect(opened()).toBe(0);
  });
});

test('what a search cannot do is refused with the reason', async () => {
  const refused = (more: object, recipe: string, world: World = doors()) =>
    train({ world, recipe, name: 'no', runs, settings: { ...settings, ...more } });
  await expect(refused({}, 'self-play', duet())).rejects.toThrow(/one role \(branching\.explorer=mcts/);
  await expect(refused({ tasks: { name: 'exit' } }, 'grpo')).rejects.toThrow(/do not branch \(tasks=exit/);
  await expect(refused({ turns: { name: 'retry' } }, 'grpo')).rejects.toThrow(/do not branch \(turns=retry/);
  // A recipe with an explorer of its own has no use for another.
  await expect(refused({}, 'arpo')).rejects.toThrow(/branching\.explorer/);
});
