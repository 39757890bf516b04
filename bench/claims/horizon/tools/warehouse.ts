/** A warehouse with a hundred tools, one for each measure of each thing, of which an order needs two. */

import { defineTool, defineTools, type Tool } from 'turnwise/env';
import { z } from 'zod';

const THINGS =
  'fig plum pear nut leek oat rye kale bean pea corn beet lime date yam rice mint sage dill chive leaf root seed hop barley'.split(
    ' ',
  );
const MEASURES = ['price', 'weight', 'age', 'size'];

interface Order {
  readonly first: string;
  readonly second: string;
}

const nameOf = (thing: string, measure: string): string => `${thing}_${measure}`;
const toolsOf = THINGS.flatMap((thing) => MEASURES.map((measure) => nameOf(thing, measure)));

/** What a measure is in an episode: a digit, drawn anew for each. */
type Measured = Readonly<Record<string, number>>;

const tools: readonly Tool<Measured>[] = toolsOf.map((name) =>
  defineTool({
    name,
    description: `The ${name.replace('_', ' ')}.`,
    parameters: z.object({}),
    run: (_, measured: Measured) => String(measured[name]),
  }),
);

/** Two measures of two things; of things that are neighbours in the list, so that there are as many orders as can be learned. */
const orders: Order[] = THINGS.flatMap((thing, index) =>
  MEASURES.flatMap((measure) =>
    MEASURES.map((other) => ({
      first: nameOf(thing, measure),
      second: nameOf(THINGS[(index + 1) % THINGS.length]!, other),
    })),
  ),
);

export const warehouse = defineTools<Order, Measured>({
  name: 'warehouse',
  description: 'Say two measures of things in a warehouse, each told by a tool of its own.',
  maxTurns: 8,
  tasks: orders,
  tools,
  setup: (_task, _signal, rng) => Object.fromEntries(toolsOf.map((name) => [name, rng.int(10)])),
  prompt: ({ first, second }) => `${first} then ${second}`,
  score: ({ task, answer }, measured) => ({
    reward: answer === `${measured[task.first]} ${measured[task.second]}` ? 1 : 0,
  }),
  solve: ({ task, calls }) => {
    const told = (name: string) => calls.find(({ tool }) => tool === name)?.result;
    const missing = [task.first, task.second].find((name) => told(name) === undefined);
    return missing === undefined ? { answer: `${told(task.first)} ${told(task.second)}` } : { tool: missing };
  },
});
