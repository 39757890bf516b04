/** Whole runs that branch: with an explorer of one's own, over HTTP, and refused where nothing can branch. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { chain } from '../bench/methods/environments/chain.ts';
import { world as frozenLake } from '../envs/frozen-lake/index.ts';
import { world as jsTasks } from '../envs/js-tasks/index.ts';
import type { Episode } from '../src/core/episode.ts';
import { placeText } from '../src/core/episode-key.ts';
import { connectTurnwise } from '../src/env/remote/turnwise.ts';
import type { World } from '../src/env/world.ts';
import { z } from '../src/exports/index.ts';
import { defineRecipe, type Explorer, ppo, type Recipe } from '../src/exports/recipes.ts';
import { train } from '../src/exports/train.ts';
import { serveEnvironment } from '../src/server/environment/serve.ts';
import { trainingShard } from '../src/store/rollouts/shard-names.ts';
import { RunDirectory } from '../src/store/run-directory.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-branching-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const settings = {
  steps: 2,
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 32 },
  clone: { demonstrations: 32, steps: 4, batch: 8 },
  rollout: { tasks: 3, group: 4 },
  evaluation: { every: 0, finalTasks: 4 },
} as const;

const local = {
  'frozen-lake': frozenLake.create(frozenLake.options.parse({})),
  'js-tasks': jsTasks.create(jsTasks.options.parse({})),
};

async function episodesOf(name: string): Promise<Episode[]> {
  const reader = RunDirectory.openForReading({ root: folder, name, version: '0.1.0' }).readRollouts();
  const episodes: Episode[] = [];
  for (const step of reader.index.steps()) {
    for await (const { members } of reader.groups(trainingShard(step))) episodes.push(...members);
  }
  return episodes;
}

/** What was said and done, without times. */
const playedIn = (episodes: readonly Episode[]) =>
  episodes.map(({ key, branchedFrom, calls, transitions, outcome, stop }) => ({
    member: `${key.step}/${key.group}/${key.member}`,
    from: branchedFrom && [branchedFrom.episode.member, branchedFrom.transition],
    said: calls.map(({ ids }) => [...ids]),
    done: transitions.map(({ anchor, action, rewards }) => [anchor, action, rewards]),
    outcome,
    stop,
  }));

describe('an explorer of one’s own', () => {
  const options = z.strictObject({
    again: z.strictObject({ turn: z.int().default(1).describe('From which') }).prefault({}),
  });
  const again = (after: number): Explorer => ({
    keeps: (_, transition) => transition === after - 1,
    next: ({ kept, members, rounds }) => {
      if (rounds.length === 0) return [{ from: 'start', members: members - 1 }];
      return rounds.length === 1 && kept[0] ? [{ from: kept[0], members: 1, chance: 'fresh' }] : 'done';
    },
  });

  test('branches as it says, by its own settings', async () => {
    const recipe = defineRecipe({ name: 'again', options, act: (config) => again(config.again.turn) });
    const chosen = recipe({ ...settings, again: { turn: 2 } });
    await train({ world: 'frozen-lake', recipe: chosen, name: 'own', runs: folder });
    const episodes = await episodesOf('own');
    expect(episodes).toHaveLength(2 * 3 * 4);
    const branches = episodes.filter(({ branchedFrom }) => branchedFrom);
    expect(branches.length).toBeGreaterThan(3);
    for (const { key, branchedFrom } of branches) {
      expect([key.member, branchedFrom!.transition, branchedFrom!.calls]).toEqual([3, 1, 2]);
    }
  });

  test('that fails ends the run, and is named', async () => {
    const recipe = defineRecipe({
      name: 'broken',
      act: () => ({
        ...again(1),
        keeps: () => {
          throw new Error('no idea');
        },
      }),
    });
    const run = train({ world: 'frozen-lake', recipe, name: 'broken', runs: folder, settings });
    await expect(run).rejects.toThrow('The explorer of recipe "broken" threw an error. Seen: no idea');
  });
});

test.each<[string, Recipe]>([
  [
    'an own recipe',
    defineRecipe({
      name: 'own',
      critic: true,
      settings: { credit: { method: 'gae', rewardScale: 0.5 } },
    }),
  ],
  ['ppo', ppo],
])(
  'an explorer reads the value head of %s: what a place is worth is the value stored of the next token there',
  async (_, base) => {
    const seen = new Map<string, number>();
    const watching: Explorer = {
      keeps: () => true,
      next: (tree) => {
        for (const place of tree.kept) {
          const value = tree.value(place);
          if (value !== undefined) seen.set(placeText(place), value);
        }
        return tree.rounds.length === 0 ? [{ from: 'start', members: tree.members }] : 'done';
      },
    };
    const recipe = defineRecipe({ ...base, name: `${base.name}-watching`, act: () => watching });
    const scale = base.settings.credit!.rewardScale!;
    const name = `valued-${base.name}`;
    await train({
      ...{ world: chain({ doors: 2, turns: 4, words: 2 }), recipe, name, runs: folder },
      settings: { ...settings, steps: 4, optimizer: { learningRate: 1e-2, warmupSteps: 0 } },
    });
    let compared = 0;
    const values = new Set<number>();
    for (const { key, calls, credit } of await episodesOf(name)) {
      const stored = credit?.agent?.values;
      if (!stored) continue;
      let token = 0;
      for (const [index, { ids }] of calls.entries()) {
        const told = index === 0 ? undefined : seen.get(placeText({ episode: key, transition: index - 1 }));
        if (told !== undefined) {
          // An explorer reads units of reward, the critic learns scaled ones.
          expect(told * scale).toBeCloseTo(stored[token]!, 5);
          values.add(told);
          compared++;
        }
        token += ids.length;
      }
      expect(token).toBe(stored.length);
    }
    expect(compared).toBeGreaterThan(20);
    expect(values.size).toBeGreaterThan(compared / 4);
  },
);

describe.each([
  ['frozen-lake', ['arpo', 'aepo', 'tree-grpo', 'malt', 'refuel']],
  // Its snapshots are held by the server.
  ['js-tasks', ['arpo', 'refuel']],
] as const)('%s over HTTP', (name, recipes) => {
  test.each(recipes)(
    '%s plays as it does here, and leaves nothing behind',
    { timeout: 120_000 },
    async (recipe) => {
      const server = await serveEnvironment({ world: local[name], port: 0 });
      try {
        const remote = await connectTurnwise(name, `http://127.0.0.1:${server.port}`);
        const world = remote.create(remote.options.parse({}));
        const [here, there] = [`${name}-${recipe}-here`, `${name}-${recipe}-there`];
        await train({ world: local[name], recipe, name: here, runs: folder, settings });
        await train({ world, recipe, name: there, runs: folder, settings });
        expect(server.openSessions()).toBe(0);
        expect(server.metrics()).toMatch(/snapshots_held\{.*\} 0/);
        const episodes = await episodesOf(there);
        expect(episodes.some(({ branchedFrom }) => branchedFrom)).toBe(true);
        expect(playedIn(episodes)).toEqual(playedIn(await episodesOf(here)));
      } finally {
        await server.close();
      }
    },
  );
});

describe('where nothing can branch', () => {
  const { pure: _, snapshots: __, ...live } = local['frozen-lake'];

  test.each(['arpo', 'aepo', 'tree-grpo', 'malt', 'refuel', 'agent-r'])(
    '%s is refused before anything runs',
    async (recipe) => {
      const open: World['open'] = async () => {
        throw new Error('something ran');
      };
      const run = train({
        world: { ...live, open },
        recipe,
        name: `refused-${recipe}`,
        runs: folder,
        settings,
      });
      await expect(run).rejects.toThrow(
        /it needs an environment whose episodes can branch \(a pure one, one that repeats what is done again, or one whose sessions have snapshots[^)]*\)\. The nearest that can is "/,
      );
    },
  );
});
