import { expect, test } from 'vitest';
import type { Group } from '../core/trajectory.ts';
import { trainConfigSchema } from './config.ts';
import type { Learner } from './learner.ts';
import { chooseTasks, playedTasks, requestsFor } from './tasks.ts';

const learner = (size: number, revisit: number): Pick<Learner, 'config' | 'world'> => ({
  config: trainConfigSchema.parse({ rollout: { tasks: 4, group: 3, revisit } }),
  world: { tasks: () => ({ size, at: (index: number) => ({ index }) }) } as unknown as Learner['world'],
});

test('endless sets give fresh tasks every step', () => {
  expect([...chooseTasks(learner(Number.POSITIVE_INFINITY, 0), 2, [5, 6]).values()]).toEqual([8, 9, 10, 11]);
});

test('half of the tasks are taken from the pool when half is asked for, as far as it reaches', () => {
  const { config, world } = learner(Number.POSITIVE_INFINITY, 0.5);
  expect(new Set([...chooseTasks({ config, world }, 2, [5, 6, 7]).values()].slice(0, 2)).size).toBe(2);
  expect([...chooseTasks({ config, world }, 2, [5]).values()]).toEqual([5, 9, 10, 11]);
});

test('small sets are drawn from at random, the same for the same step', () => {
  const drawn = [...chooseTasks(learner(25, 0), 1, []).values()];
  expect(drawn.every((index) => index >= 0 && index < 25)).toBe(true);
  expect([...chooseTasks(learner(25, 0), 1, []).values()]).toEqual(drawn);
});

test('each task becomes a group of its own, and is found again by it', () => {
  const tasks = chooseTasks(learner(Number.POSITIVE_INFINITY, 0), 0, []);
  const requests = requestsFor(learner(Number.POSITIVE_INFINITY, 0), tasks);
  expect(requests[2]).toEqual({ id: '0/2', task: { index: 2 }, members: 3 });
  const groups = [
    { id: '0/2', task: null, members: [] },
    { id: '0/3/first', task: null, members: [] },
  ] as Group[];
  expect([...playedTasks(groups, tasks).keys()]).toEqual([2]);
});
