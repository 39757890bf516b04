import { expect, test } from 'vitest';
import { changedTasks, countChanges } from './changes.ts';

const grid = {
  evaluations: [0, 5, 9],
  rows: ['a', 'b', 'c', 'd', 'e'].map((task, group) => ({ task, role: 'agent', group })),
  shown: [
    { step: 0, sampled: '0101-', greedy: '00000' },
    { step: 5, sampled: '11111', greedy: '00000' },
    { step: 9, sampled: '10011', greedy: '11111' },
  ],
};

test('tasks that were lost come first, and one that was played only once is not compared', () => {
  const tasks = changedTasks(grid, 'sampled', 0, 9);
  expect(tasks.map(({ task, change, outcomes }) => [task, change, outcomes])).toEqual([
    ['b', 'lost', '110'],
    ['a', 'gained', '011'],
    ['c', 'never', '010'],
    ['d', 'always', '111'],
    ['e', 'not compared', '-11'],
  ]);
  expect(countChanges(tasks)).toEqual({ lost: 1, gained: 1, never: 1, always: 1, 'not compared': 1 });
});

test('the other way of playing, and an evaluation that is not shown', () => {
  expect(countChanges(changedTasks(grid, 'greedy', 0, 9)).gained).toBe(5);
  expect(countChanges(changedTasks(grid, 'greedy', 0, 7))['not compared']).toBe(5);
});
