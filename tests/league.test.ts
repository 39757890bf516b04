/** A league in a run: who is met, what is kept on disk and in the checkpoint, what is measured, and that it goes on as it was. */

import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Episode } from '../src/core/episode.ts';
import { defineLeague, type RunSettings, start, train } from '../src/exports/index.ts';
import { resume } from '../src/exports/train.ts';
import { readEvents } from '../src/store/log-lines.ts';
import { readEpisodeFile } from '../src/store/rollouts/read-episodes.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-league-'));
afterAll(() => rmSync(runs, { recursive: true, force: true }));

const settings: RunSettings = {
  ...{ seed: 5, steps: 6, threads: 1 },
  model: { width: 16, layers: 1, heads: 2, hidden: 32 },
  clone: { demonstrations: 48, steps: 4, batch: 16 },
  rollout: { tasks: 6, group: 4 },
  evaluation: { every: 0, tasks: 4, finalTasks: 4 },
  checkpoint: { every: 1, keep: 2 },
  tasks: { name: 'league', every: 1, most: 2, selfPlay: 0.3, opponents: 2 },
  players: { dice: 'script:random', held: 'script:beginner' },
  seats: { second: 'held' },
};
const play = (name: string, more: object = {}) =>
  train({ world: 'kuhn-poker', name, runs, settings: { ...settings, ...more } });

function stored(name: string): Episode[] {
  const folder = join(runs, name, 'rollouts');
  const shards = readdirSync(folder).filter((file) => /^\d+\.jsonl\.gz$/.test(file));
  return shards
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .flatMap((file) => [...(readEpisodeFile(join(folder, file))?.groups ?? [])])
    .flatMap(({ members }) => members);
}

const checkpoint = (name: string, file: string): string =>
  createHash('sha256')
    .update(readFileSync(join(runs, name, 'checkpoints', '6', file)))
    .digest('hex');
const stateOf = (name: string) => {
  const text = readFileSync(join(runs, name, 'checkpoints', '6', 'state.json'), 'utf8');
  return (JSON.parse(text) as { state: { memory: { tasks: Standing } } }).state.memory.tasks;
};
interface Standing {
  readonly rating: number;
  readonly members: Readonly<Record<string, { readonly rating: number; readonly games: number }>>;
}

test('meets the warm start, the newest snapshots and a script, in both roles, and rates them', async () => {
  await play('whole');
  const episodes = stored('whole');
  expect(episodes).toHaveLength(6 * 24);
  const met = new Map<string, Set<string>>();
  for (const { key, seats, calls, credit } of episodes) {
    const players = Object.entries(seats).map(([role, { player }]) => [role, player] as const);
    expect(players.some(([, player]) => player === 'learner')).toBe(true);
    for (const [role, player] of players) {
      met.set(player, (met.get(player) ?? new Set()).add(role));
      const [, step] = /^self@(\d+)$/.exec(player) ?? [];
      if (step === undefined) continue;
      // The two newest snapshots and the warm start; the version of weights is one more than their step.
      expect([0, key.step - 2, key.step - 1]).toContain(Number(step));
      expect(seats[role]!.version).toBe(Number(step) + 1);
      expect(credit?.[role]).toBeUndefined();
    }
    for (const { role, trainable } of calls)
      expect(trainable === true).toBe(seats[role]!.player === 'learner');
  }
  expect(met.get('learner')).toEqual(new Set(['first', 'second']));
  expect([...met.keys()].some((name) => name.startsWith('self@'))).toBe(true);
  expect(met.has('dice')).toBe(true);
  // Whom the settings seat stays unseen, for evaluations.
  expect(met.has('held')).toBe(false);

  // Bounded: two snapshots beside the warm start, for each of the checkpoints 4 and 5 and for step 6.
  expect(readdirSync(join(runs, 'whole', 'past')).sort()).toEqual(['0', '3', '4', '5', '6']);
  const { rating, members } = stateOf('whole');
  expect(Object.keys(members).sort()).toEqual(['dice', 'self@0', 'self@5', 'self@6']);
  const metrics = readEvents(join(runs, 'whole', 'events.jsonl')).flatMap((event) =>
    event.type === 'step' ? [event.metrics] : [],
  );
  expect(metrics.at(-1)).toMatchObject({ 'tasks/rating': rating, 'tasks/members': 4 });
  const rated = Object.entries(members).filter(([, { games }]) => games > 0);
  expect(rated.length).toBeGreaterThan(0);
  for (const [name, member] of rated) expect(metrics.at(-1)![`tasks/rating/${name}`]).toBe(member.rating);
});

test('goes on where it was stopped, bit for bit', async () => {
  const run = await start({ world: 'kuhn-poker', name: 'half', runs, settings });
  for await (const event of run.events) if (event.type === 'step' && event.step === 3) run.stop();
  await run.finished.catch(() => {});
  await (await resume('half', { runs })).finished;
  const told = ({ calls, outcome, seats }: Episode) => ({
    texts: calls.map(({ role, text }) => [role, text]),
    ...{ outcome, seats },
  });
  expect(stored('half').map(told)).toEqual(stored('whole').map(told));
  expect(stateOf('half')).toEqual(stateOf('whole'));
  expect(checkpoint('half', 'model.safetensors')).toBe(checkpoint('whole', 'model.safetensors'));
});

test('begins with the warm start of a run that has no league', async () => {
  const { tasks: _, ...plain } = settings;
  const players = { held: 'script:beginner' };
  await train({ world: 'kuhn-poker', name: 'warm', runs, settings: { ...plain, players, steps: 0 } });
  await play('warmed', { start: 'warm', players, steps: 1 });
  expect(stored('warmed')).toHaveLength(24);
});

test('draws as a league of one’s own says', async () => {
  const scripts = defineLeague({
    name: 'scripts',
    weigh: ({ members }) => members.map(({ name }) => (name.startsWith('self@') ? 0 : 1)),
  });
  await play('own', { steps: 2, tasks: { ...(settings.tasks as object), name: scripts, selfPlay: 0 } });
  const met = new Set(stored('own').flatMap(({ seats }) => Object.values(seats).map(({ player }) => player)));
  expect(met).toEqual(new Set(['learner', 'dice']));
});

test('is refused where there is only one role', async () => {
  await expect(
    train({ world: 'frozen-lake', name: 'alone', runs, settings: { ...settings, players: {}, seats: {} } }),
  ).rejects.toThrow('an environment with roles to seat players in');
});
