/** A placebo: beside fresh tasks, tasks that were played before come again, whether they were solved or not. */

import { defineTasks, z } from 'turnwise';

/** Tasks that are remembered, the latest. */
const CAPACITY = 512;

export const anyAgain = defineTasks({
  name: 'any-again',
  summary: 'fresh tasks beside some of those that were played before',
  options: z.strictObject({
    share: z.number().min(0).max(1).default(0.5).describe('Share of the tasks that are played again'),
    every: z.int().min(1).default(1).describe('Steps after which tasks are played again'),
  }),
  start: (): readonly number[] => [],
  next({ step, round, wanted, members, tasks, memory, options: { share, every }, rng }) {
    const isDue = round === 0 && step % every === 0;
    const again = isDue ? rng.shuffle(memory).slice(0, Math.round(share * wanted)) : [];
    return tasks
      .fresh(wanted)
      .map((index, place) => ({ task: { split: 'train', index: again[place] ?? index }, members }));
  },
  remember(groups, { memory }) {
    const played = groups.flatMap(({ members: [first] }) =>
      first !== undefined && typeof first.key.task === 'number' ? [first.key.task] : [],
    );
    return [...memory.filter((task) => !played.includes(task)), ...new Set(played)].slice(-CAPACITY);
  },
});
