import { expect, test } from 'vitest';
import { madeEpisode, madeGroup, madeKey, playedEpisode } from '../../core/testing/made-episodes.ts';
import { roleGroups } from '../../core/trajectory.ts';
import type { GroupRequest } from '../../rollout/collect.ts';
import { trainConfigSchema } from '../config/config.ts';
import type { Learner } from '../kit/learner.ts';
import { chooseTasks, playedTasks } from './tasks.ts';

const learner = (size: number, revisit: number): Pick<Learner, 'config' | 'world'> => ({
  config: trainConfigSchema.parse({ rollout: { tasks: 4, group: 3, revisit } }),
  world: { tasks: () => ({ size, at: (index: number) => ({ index }) }) } as unknown as Learner['world'],
});

/** The index of each group's task. */
const tasksOf = (requests: readonly GroupRequest[]): number[] => requests.map(({ index }) => index);

test('endless sets give fresh tasks every step', () => {
  expect(tasksOf(chooseTasks(learner(Number.POSITIVE_INFINITY, 0), 3, [5, 6]))).toEqual([8, 9, 10, 11]);
});

test('half of the tasks are taken from the pool when half is asked for, as far as it reaches', () => {
  const { config, world } = learner(Number.POSITIVE_INFINITY, 0.5);
  expect(new Set(tasksOf(chooseTasks({ config, world }, 3, [5, 6, 7])).slice(0, 2)).size).toBe(2);
  expect(tasksOf(chooseTasks({ config, world }, 3, [5]))).toEqual([5, 9, 10, 11]);
});

test('small sets are gone through in shuffled epochs, the same for the same step', () => {
  const small = learner(10, 0);
  const drawn = Array.from({ length: 15 }, (_, index) => tasksOf(chooseTasks(small, index + 1, []))).flat();
  const epochs = [0, 1, 2, 3, 4, 5].map((epoch) => drawn.slice(10 * epoch, 10 * (epoch + 1)));
  for (const epoch of epochs)
    expect([...epoch].sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(new Set(epochs.map(String)).size).toBe(6);
  expect(tasksOf(chooseTasks(small, 2, []))).toEqual(drawn.slice(4, 8));
});

test('a further round plays others, and what the pool gave changes none of the fresh ones', () => {
  const small = learner(10, 0);
  expect(tasksOf(chooseTasks(small, 1, [], 1))).not.toEqual(tasksOf(chooseTasks(small, 1, [])));
  const endless = learner(Number.POSITIVE_INFINITY, 0);
  const [first, second] = [0, 1].map((round) => tasksOf(chooseTasks(endless, 1, [], round)));
  expect(second!.filter((task) => first!.includes(task))).toEqual([]);
  const half = learner(10, 0.5);
  expect(tasksOf(chooseTasks(half, 1, [7, 8])).slice(2)).toEqual(tasksOf(chooseTasks(half, 1, [])).slice(2));
});

test('each task becomes a group of its own, and is found again by it', () => {
  const requests = chooseTasks(learner(Number.POSITIVE_INFINITY, 0), 1, []);
  expect(requests[2]).toEqual({
    step: 1,
    group: 2,
    split: 'train',
    index: 2,
    task: { index: 2 },
    members: 3,
  });
  expect(chooseTasks(learner(9, 0), 1, [], 1).map(({ group }) => group)).toEqual([4, 5, 6, 7]);
  const solo = madeGroup(playedEpisode(0, [{}], { key: madeKey({ group: 2, task: 2 }) }));
  const duel = madeGroup(
    madeEpisode(0, [], [], { key: madeKey({ group: 3, task: 3 }), outcome: { first: 1, second: -1 } }),
  );
  const played = playedTasks(roleGroups([solo, duel, { step: 1, group: 4, members: [] }]));
  expect([...played.keys()]).toEqual([2]);
  expect(played.get(2)).toHaveLength(1);
});
