/** A world of tools, of which a task needs two, for contexts that decide what is read of tools and their results. */

import { z } from 'zod';
import { defineTool, defineTools, type WorldFactory } from '../../src/exports/env.ts';

const THINGS = ['fig', 'plum', 'nut', 'oat'];

const tools = THINGS.flatMap((thing, index) => [
  defineTool({
    name: `${thing}_price`,
    description: `The price of a ${thing}.`,
    parameters: z.object({}),
    run: () => `${index + 2} coins`,
  }),
  defineTool({
    name: `${thing}_weight`,
    description: `The weight of a ${thing}.`,
    parameters: z.object({}),
    run: () => `a ${thing} weighs as much as another ${thing} does `.repeat(3).trim(),
  }),
]);

/** Look at the price of one thing and at the weight of another, and say the price. */
export const toolbox: WorldFactory = defineTools({
  name: 'toolbox',
  description: 'Two tools of eight tell what is asked for.',
  maxTurns: 6,
  tasks: THINGS.map((first, index) => ({ first, second: THINGS[(index + 1) % THINGS.length]! })),
  tools,
  setup: () => null,
  prompt: ({ first, second }) => `price of ${first} then weight of ${second}`,
  score: ({ task, answer, calls }) => ({
    reward:
      answer !== undefined &&
      calls.some(({ tool, result }) => tool === `${task.first}_price` && result === answer)
        ? 1
        : 0,
  }),
  solve: ({ task, calls }) => {
    const [first] = calls;
    if (first === undefined) return { tool: `${task.first}_price` };
    return calls.length === 1 ? { tool: `${task.second}_weight` } : { answer: first.result };
  },
});
