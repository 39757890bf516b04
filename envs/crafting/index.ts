/** A crafting world after TextCraft (ADaPT, arXiv 2311.05772): fetch, craft by recipes that build on each other, ignore the others. */

import { z } from 'zod';
import { defineEnvironment, type Environment } from '../../src/env/environment.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { drawnTasks } from '../../src/env/tasks/drawn-tasks.ts';
import { wordingOption } from '../../src/env/wording.ts';
import {
  type Amounts,
  type Book,
  type CraftingTask,
  changed,
  craftOf,
  drawTask,
  has,
  planFrom,
  type Recipe,
  rawItems,
  write,
} from './recipes.ts';

export interface CraftingState {
  readonly task: CraftingTask;
  readonly stock: Amounts;
}

export interface CraftingOptions {
  readonly book: Book;
  readonly depth: number;
  readonly distractors: number;
  readonly maxTurns: number;
}

const optionsSchema = z.strictObject({
  book: z
    .enum(['fixed', 'drawn'])
    .default('fixed')
    .describe(
      'fixed: one book of recipes, of which a task shows some; drawn: each task has recipes of its own',
    ),
  depth: z.int().min(1).max(4).default(2).describe('Most crafts that build on each other'),
  distractors: z.int().min(0).max(10).default(2).describe('Recipes that the goal does not need'),
  maxTurns: z.int().min(1).max(200).default(20).describe('Actions before the episode fails'),
  wording: wordingOption,
});

/** Most that is fetched at once by players that list actions. */
const HANDFUL = 4;

/** The environment. The goal item pays 1 and ends the episode; nothing else pays or costs. */
export function crafting({
  book,
  depth,
  distractors,
  maxTurns,
}: CraftingOptions): Environment<CraftingTask, CraftingState> {
  const steps = ({ task, stock }: CraftingState): number => planFrom(task, stock).length;
  return defineEnvironment<CraftingTask, CraftingState>({
    name: 'crafting',
    description: 'Fetch raw things and craft a goal by recipes, some of which are of no use.',
    maxTurns,
    returns: [0, 1],
    facts: ['dense', 'effectiveActions'],
    tasks: drawnTasks(`crafting ${book}`, (rng) => drawTask(book, depth, distractors, rng)),
    start: (task) => ({
      state: { task, stock: {} },
      messages: [{ role: 'user', content: opening(task, {}) }],
    }),
    step: (before, action) => {
      const stock = act(before, action);
      const state = { ...before, stock: stock ?? before.stock };
      const done = (state.stock[before.task.goal] ?? 0) > 0;
      return {
        state,
        observation: done ? 'made' : stock ? holding(state) : `invalid ${holding(state)}`,
        reward: done ? 1 : 0,
        done,
        success: done,
        valid: stock !== undefined,
        metrics: { depth: before.task.depth },
        info: {
          credit: { dense: steps(before) - (done ? 0 : steps(state)), effectiveActions: stock ? 1 : 0 },
        },
      };
    },
    anchor: ({ task, stock }) => `${task.goal} ${write(stock)}`,
    actions: ({ task: { recipes }, stock }) => [
      ...rawItems(recipes).flatMap((item) =>
        Array.from({ length: HANDFUL }, (_, more) => `get ${more + 1} ${item}`),
      ),
      ...recipes.filter(({ needs }) => has(stock, needs)).map(craftOf),
    ],
    solve: ({ task, stock }) => {
      const plan = planFrom(task, stock);
      const ready = plan.find((action) =>
        task.recipes.some((one) => craftOf(one) === action && has(stock, one.needs)),
      );
      return ready ?? plan[0]!;
    },
    // Crafts what it can, needed or not, and fetches one at a time.
    stumble: ({ task: { recipes, goal }, stock }, rng) => {
      const ready = recipes.filter(({ needs }) => has(stock, needs));
      const best = ready.find(({ item }) => item === goal);
      if (best ?? (ready.length > 0 && rng.chance(0.7))) return craftOf(best ?? rng.pick(ready));
      return `get 1 ${rng.pick(rawItems(recipes))}`;
    },
    render: ({ task, stock }) => opening(task, stock),
    natural: {
      instructions: [
        'Craft the goal. Recipes say what each item is made of. What has no recipe can be fetched, as much as you like.',
        'Answer with one command and nothing else: get NUMBER ITEM, or craft NUMBER ITEM using NUMBER ITEM, NUMBER ITEM.',
        'A craft uses up what it names. Some recipes are of no use.',
      ].join(' '),
      example: [
        [
          'Recipes: 1 plank from 2 wood. 1 raft from 1 plank, 1 rope. Goal: plank. You have nothing.',
          'get 2 wood',
        ],
        ['You have 2 wood.', 'craft 1 plank using 2 wood'],
      ],
      observe: ({ task: { goal, recipes }, stock }, step) => {
        if (step?.done) return `You have made the ${goal}.`;
        const have = `You have ${write(stock).replace(/(\w) (\d)/g, '$1, $2') || 'nothing'}.`;
        if (step?.valid === false) return `That is not possible. ${have}`;
        return step ? have : `Recipes: ${recipes.map(sentence).join(' ')} Goal: ${goal}. ${have}`;
      },
    },
  });
}

/** The goal is said again, so that nobody has to look for it far behind. */
const holding = ({ task, stock }: CraftingState): string =>
  `goal ${task.goal} have ${write(stock) || 'nothing'}`;
const sentence = ({ item, count, needs }: Recipe): string =>
  `${count} ${item} from ${write(needs).replace(/(\w) (\d)/g, '$1, $2')}.`;

/** The recipes in the words of the commands that use them, and the goal last. */
function opening(task: CraftingTask, stock: Amounts): string {
  return [...task.recipes.map((recipe) => `${craftOf(recipe)} ;`), holding({ task, stock })].join(' ');
}

/** The stock after a command; undefined where it is none or cannot be done. */
function act({ task: { recipes }, stock }: CraftingState, command: string): Amounts | undefined {
  const words = command.toLowerCase().replaceAll(',', ' ').trim().split(/\s+/);
  const fetched = words[0] === 'get' ? readAmounts(words.slice(1)) : undefined;
  if (fetched?.length === 1) {
    const [[item, count]] = fetched as [[string, number]];
    return rawItems(recipes).includes(item) ? changed(stock, [item, count]) : undefined;
  }
  const using = words.indexOf('using');
  if (words[0] !== 'craft' || using < 0) return undefined;
  // The number of the output may be left out, and is not read: a craft gives as many as its recipe says.
  const item = words[using - 1];
  const named = readAmounts(words.slice(using + 1));
  const needs = named && Object.fromEntries(named);
  const recipe = recipes.find((one) => one.item === item && needs && isSame(one.needs, needs));
  if (recipe === undefined || named === undefined || !has(stock, recipe.needs)) return undefined;
  return changed(stock, ...named.map(([part, count]) => [part, -count] as const), [
    recipe.item,
    recipe.count,
  ]);
}

function readAmounts(words: readonly string[]): (readonly [string, number])[] | undefined {
  const pairs: (readonly [string, number])[] = [];
  for (let at = 0; at < words.length; at += 2) {
    const count = Number(words[at]);
    if (!Number.isInteger(count) || count < 1 || count > 99 || words[at + 1] === undefined) return undefined;
    pairs.push([words[at + 1]!, count]);
  }
  return pairs.length > 0 ? pairs : undefined;
}

const isSame = (one: Amounts, other: Amounts): boolean =>
  Object.keys(one).length === Object.keys(other).length && has(one, other) && has(other, one);

export const world: WorldFactory<typeof optionsSchema> = defineWorld({
  name: 'crafting',
  description: 'Fetch raw things and craft a goal by recipes, some of which are of no use.',
  options: optionsSchema,
  settings: {
    model: { width: 64, layers: 2, heads: 4, hidden: 172 },
    clone: { demonstrations: 1200, beginnerShare: 0.2, randomRate: 0.1, steps: 300, batch: 16 },
    rollout: { tasks: 16, group: 8 },
    // Three times as much unlearns within ten steps what was imitated.
    optimizer: { learningRate: 3e-4 },
    steps: 60,
  },
  create: ({ wording, ...options }) => fromEnvironment(crafting(options), { wording }),
});
