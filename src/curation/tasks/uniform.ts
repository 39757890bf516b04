/** Every task as often as every other. */

import { type DefinedTasks, defineTasks } from './task-source.ts';

export const uniform: DefinedTasks = defineTasks({
  name: 'uniform',
  summary: 'fresh tasks, each once before any comes again',
  next: ({ wanted, members, tasks }) =>
    tasks.fresh(wanted).map((index) => ({ task: { split: 'train', index }, members })),
});
