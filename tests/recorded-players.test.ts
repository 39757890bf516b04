/** Recorded games: whoever sat beside the learner is not learned from, and who lost is not imitated. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Episode } from '../src/core/episode.ts';
import { isTrained } from '../src/core/trajectory.ts';
import { type TrainSettings, train } from '../src/exports/index.ts';
import { readEvents } from '../src/store/log-lines.ts';
import { readEpisodeFile } from '../src/store/rollouts/read-episodes.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-recorded-players-'));
afterAll(() => rmSync(runs, { recursive: true, force: true }));

const small: TrainSettings = {
  seed: 5,
  steps: 2,
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 32 },
  clone: { demonstrations: 48, steps: 40, batch: 16 },
  evaluation: { every: 0, finalTasks: 4 },
};
const against = (player: string): TrainSettings => ({
  players: { other: player },
  seats: { second: 'other' },
});
const play = (name: string, more: TrainSettings) =>
  train({
    ...{ world: 'kuhn-poker', recipe: 'rloo', name, runs },
    settings: { ...small, rollout: { tasks: 4, group: 4 }, ...more },
  });
const imitate = (name: string, more: TrainSettings) =>
  train({
    ...{ world: 'kuhn-poker', recipe: 'sft', name, runs },
    settings: { ...small, ...more, clone: { ...small.clone, steps: 0, ...more.clone } },
  });

const recorded = (name: string): Episode[] =>
  readEpisodeFile(join(runs, name, 'rollouts', 'recorded.jsonl.gz'))!.groups.flatMap(
    ({ members }) => members,
  );
const dataOf = (name: string) =>
  readEvents(join(runs, name, 'events.jsonl')).find(({ type }) => type === 'data');
const learnedRoles = (name: string): readonly string[] =>
  [...new Set(recorded(name).flatMap(({ calls }) => calls.filter(isTrained).map(({ role }) => role)))].sort();

const all: TrainSettings = { clone: { from: 'all' } };

beforeAll(async () => {
  await play('against-dice', against('script:random'));
  await play('with-bob', against('learner'));
}, 120_000);

test('an opponent in a recorded run is counted, and not imitated', async () => {
  await imitate('beside-dice', { ...all, data: 'against-dice' });
  expect(learnedRoles('beside-dice')).toEqual(['first']);
  const { leftOut, episodes, exact } = dataOf('beside-dice') as never as {
    leftOut: Record<string, number>;
    episodes: number;
    exact: number;
  };
  expect(Object.keys(leftOut)).toEqual(['answers of other players']);
  expect([episodes, exact]).toEqual([32, 32]);
});

test('a further learner is imitated, unless another player has its seat here', async () => {
  await imitate('both', { ...all, data: 'with-bob' });
  expect(learnedRoles('both')).toEqual(['first', 'second']);
  await imitate('one', { ...all, ...against('script:random'), data: 'with-bob' });
  expect(learnedRoles('one')).toEqual(['first']);
});

test('scripts are imitated in the roles of the learner and its earlier selves', async () => {
  await imitate('scripts', { data: 'demonstrations' });
  expect(learnedRoles('scripts')).toEqual(['first', 'second']);
  await imitate('past', { ...against('past:1'), data: 'demonstrations' });
  expect(learnedRoles('past')).toEqual(['first', 'second']);
  await imitate('dice', { ...against('script:random'), data: 'demonstrations' });
  expect(learnedRoles('dice')).toEqual(['first']);
});

test('where nothing else was said, the error says who said it', async () => {
  const swapped = { players: { other: 'script:random' }, seats: { first: 'other' } };
  await expect(imitate('nobody', { ...all, ...swapped, data: 'against-dice' })).rejects.toThrow(
    'answers of other players. Allowed: answers in a role that a learner played there, and plays here.',
  );
});

test('winners of a game are imitated, and losers are not', async () => {
  await imitate('winners', { data: 'with-bob' });
  for (const { calls, success } of recorded('winners'))
    for (const call of calls) expect(isTrained(call)).toBe(success[call.role]);
});
