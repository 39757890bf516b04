/** Starts at places of earlier episodes over HTTP: the same episodes as in one process, and nothing left open on the server. */

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { world as frozenLake } from '../envs/frozen-lake/index.ts';
import { world as jsTasks } from '../envs/js-tasks/index.ts';
import type { Episode, EpisodeKey } from '../src/core/episode.ts';
import { keyText } from '../src/core/episode-key.ts';
import { defineTasks, train } from '../src/exports/index.ts';
import { serveEnvironment } from '../src/server/environment/serve.ts';
import { readEpisodeFile } from '../src/store/rollouts/read-episodes.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-remote-places-'));
afterAll(() => rmSync(runs, { recursive: true, force: true }));

/** One group of each step begins where an episode of an earlier one was after its second turn. */
const back = defineTasks<Record<never, never>, { place: { episode: EpisodeKey; transition: number } | null }>(
  {
    name: 'back',
    places: true,
    start: () => ({ place: null }),
    next: ({ round, wanted, members, tasks, memory: { place } }) =>
      round > 0
        ? []
        : tasks
            .fresh(wanted)
            .map((index, at) =>
              at === 0 && place ? { task: { place }, members } : { task: { split: 'train', index }, members },
            ),
    remember: (groups, { memory }) => {
      const long = groups
        .flatMap(({ members }) => members)
        .findLast(({ transitions }) => transitions.length > 3);
      return { place: long ? { episode: long.key, transition: 1 } : memory.place };
    },
  },
);

async function play(name: string, world: string): Promise<Episode[]> {
  await train({
    ...{ world, name, runs },
    settings: {
      ...{ seed: 3, steps: 4, threads: 1 },
      model: { width: 16, layers: 1, heads: 2, hidden: 32 },
      clone: { demonstrations: 24, steps: 20, batch: 16 },
      rollout: { tasks: 3, group: 3, turnTimeoutMs: 20_000 },
      evaluation: { every: 0, tasks: 4, finalTasks: 4 },
      tasks: { name: back },
    },
  });
  const folder = join(runs, name, 'rollouts');
  const steps = readdirSync(folder).filter((file) => /^\d+\.jsonl\.gz$/.test(file));
  return steps
    .flatMap((_, step) => [...(readEpisodeFile(join(folder, `${step + 1}.jsonl.gz`))?.groups ?? [])])
    .flatMap(({ members }) => members);
}

const asTold = ({ key, calls, transitions, startedAt, stop, failure, outcome }: Episode) => ({
  key: keyText(key),
  ...{ startedAt, stop, failure, outcome },
  calls: calls.map(({ text, trainable }) => ({ text, trainable })),
  transitions: transitions.map(({ anchor, action, rewards }) => ({ anchor, action, rewards })),
});

test('a server whose environment is not pure is refused before anything runs', async () => {
  const server = await serveEnvironment({ world: jsTasks.create(jsTasks.options.parse({})), port: 0 });
  try {
    await expect(play('refused', `turnwise:http://127.0.0.1:${server.port}`)).rejects.toThrow(
      'it needs a pure environment, here or behind a turnwise: address, in which what was done can be done again (tasks=code:back',
    );
    expect(readdirSync(runs)).not.toContain('refused');
  } finally {
    await server.close();
  }
});

test('a run whose groups begin at places is the same behind an address, and leaves no session open', {
  timeout: 120_000,
}, async () => {
  const server = await serveEnvironment({
    world: frozenLake.create(frozenLake.options.parse({})),
    port: 0,
    settings: frozenLake.settings!,
  });
  try {
    const remote = await play('remote', `turnwise:http://127.0.0.1:${server.port}`);
    expect(server.openSessions()).toBe(0);
    const begun = remote.filter(({ startedAt }) => startedAt);
    expect(begun.length).toBeGreaterThanOrEqual(6);
    const byKey = new Map(remote.map((episode) => [keyText(episode.key), episode]));
    for (const { startedAt, calls, transitions, stop } of begun) {
      const { episode, transition } = startedAt!.at(-1)!;
      const origin = byKey.get(keyText(episode))!;
      expect(stop).not.toMatch(/^failed/);
      expect(transitions.slice(0, transition + 1).map(({ anchor, action }) => [anchor, action])).toEqual(
        origin.transitions.slice(0, transition + 1).map(({ anchor, action }) => [anchor, action]),
      );
      expect(calls.map(({ trainable }) => trainable)).toEqual(
        calls.map((_, index) => (index <= transition ? 'earlier' : true)),
      );
    }
    const local = await play('local', 'frozen-lake');
    expect(remote.map(asTold)).toEqual(local.map(asTold));
  } finally {
    await server.close();
  }
});
