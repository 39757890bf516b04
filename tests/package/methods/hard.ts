/** A source of tasks as a user writes it; docs/your-own-methods.md shows it. */

import { defineTasks, z } from 'turnwise';

export const hard = defineTasks({
  name: 'hard',
  summary: 'fresh tasks, more episodes of them as fewer succeed',
  options: z.strictObject({
    most: z.int().min(2).default(16).describe('Episodes of a task that nobody solves'),
  }),
  start: () => ({ rate: 0 }),
  next: ({ wanted, tasks, memory, options }) =>
    tasks.fresh(wanted).map((index) => ({
      task: { split: 'train', index },
      members: Math.max(2, Math.round(options.most * (1 - memory.rate))),
    })),
  remember: (groups) => {
    const played = groups.flatMap(({ members }) => members);
    return { rate: played.filter(({ success }) => success.agent).length / Math.max(1, played.length) };
  },
});
