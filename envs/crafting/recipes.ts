/** Recipes that build on each other, what may be done with a stock, and the shortest plan to a goal. */

import { Rng } from '../../src/core/rng.ts';

export type Amounts = Readonly<Record<string, number>>;

export interface Recipe {
  readonly item: string;
  /** How many a craft gives. */
  readonly count: number;
  readonly needs: Amounts;
}

export interface CraftingTask {
  readonly goal: string;
  /** Of the goal, of all that it needs, and of things that it does not need, in no order. */
  readonly recipes: readonly Recipe[];
  /** Crafts that build on each other. */
  readonly depth: number;
}

const RAW = 'wood stone clay sand wool iron copper coal reed bone'.split(' ');
const MADE =
  'brick glass rope cloth wire plank blade wheel lamp chest sword shield boat clock harp crown'.split(' ');

/** `fixed`: one book of recipes for all tasks, as in TextCraft; `drawn`: each task has recipes of its own. */
export type Book = 'fixed' | 'drawn';

/** A goal of at most this depth, what it builds on, and distractors that use the same things. */
export function drawTask(book: Book, depths: number, distractors: number, rng: Rng): CraftingTask {
  return book === 'fixed' ? fromBook(depths, distractors, rng) : ownTask(depths, distractors, rng);
}

function ownTask(depths: number, distractors: number, rng: Rng): CraftingTask {
  const depth = 1 + rng.int(depths);
  const raws = rng.shuffle(RAW).slice(0, 4);
  const names = rng.shuffle(MADE);
  const recipes: Recipe[] = [];
  // A chain of the asked depth; each link may need raw things or an earlier one beside.
  for (let link = 0; link < depth; link++) {
    const below = recipes.at(-1)?.item;
    const others = rng.shuffle([...raws, ...recipes.slice(0, -1).map(({ item }) => item)]);
    const chosen =
      below === undefined ? others.slice(0, 1 + rng.int(2)) : [below, ...others.slice(0, rng.int(2))];
    recipes.push({ item: names[link]!, count: rng.chance(0.25) ? 2 : 1, needs: amountsOf(chosen, rng) });
  }
  const goal = recipes.at(-1)!.item;
  for (let extra = 0; extra < distractors; extra++) {
    const known = [...raws, ...recipes.map(({ item }) => item).filter((item) => item !== goal)];
    const parts = rng.shuffle(known).slice(0, 1 + rng.int(2));
    recipes.push({ item: names[depth + extra]!, count: 1, needs: amountsOf(parts, rng) });
  }
  return { goal, recipes: rng.shuffle(recipes), depth };
}

/** Four layers of four things; each is made of at least one thing of the layer below. */
const BOOK: readonly Recipe[] = (() => {
  const rng = Rng.of('crafting', 'book');
  return MADE.map((item, index) => {
    const layer = Math.floor(index / 4);
    const below = layer === 0 ? RAW : MADE.slice(4 * layer - 4, 4 * layer);
    const parts = [rng.pick(below), ...rng.shuffle(RAW).slice(0, rng.int(2))];
    return { item, count: rng.chance(0.25) ? 2 : 1, needs: amountsOf([...new Set(parts)], rng) };
  });
})();

function fromBook(depths: number, distractors: number, rng: Rng): CraftingTask {
  const goal = rng.pick(MADE.slice(0, 4 * depths));
  const isMade = (part: string): boolean => MADE.includes(part);
  const needed = new Set([goal]);
  for (const item of needed)
    for (const part of Object.keys(recipeOf(item).needs).filter(isMade)) needed.add(part);
  // What a distractor is made of has a recipe here or none at all, so that nothing crafted can be fetched.
  const others = BOOK.filter(
    ({ item, needs }) =>
      !needed.has(item) && Object.keys(needs).every((part) => !isMade(part) || needed.has(part)),
  );
  const shown = [...[...needed].map(recipeOf), ...rng.shuffle(others).slice(0, distractors)];
  return { goal, recipes: rng.shuffle(shown), depth: 1 + Math.floor(MADE.indexOf(goal) / 4) };
}

const recipeOf = (item: string): Recipe => BOOK.find((one) => one.item === item)!;

function amountsOf(items: readonly string[], rng: Rng): Amounts {
  return Object.fromEntries(items.map((item) => [item, 1 + rng.int(2)]));
}

/** What cannot be crafted, and so is found. */
export function rawItems(recipes: readonly Recipe[]): readonly string[] {
  const crafted = new Set(recipes.map(({ item }) => item));
  return [...new Set(recipes.flatMap(({ needs }) => Object.keys(needs)))]
    .filter((item) => !crafted.has(item))
    .sort();
}

export function has(stock: Amounts, needs: Amounts): boolean {
  return Object.entries(needs).every(([item, count]) => (stock[item] ?? 0) >= count);
}

/** `stock` with `change` of each item; nothing is kept of what is used up. */
export function changed(stock: Amounts, ...changes: readonly (readonly [string, number])[]): Amounts {
  const next = { ...stock };
  for (const [item, change] of changes) {
    next[item] = (next[item] ?? 0) + change;
    if (next[item] === 0) delete next[item];
  }
  return next;
}

export const write = (amounts: Amounts): string =>
  Object.entries(amounts)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([item, count]) => `${count} ${item}`)
    .join(' ');

export const craftOf = ({ item, count, needs }: Recipe): string =>
  `craft ${count} ${item} using ${write(needs)}`;

/** The actions to the goal from `stock`, as few as there are: each raw thing is fetched once, in the amount that is lacking. */
export function planFrom({ goal, recipes }: CraftingTask, stock: Amounts): readonly string[] {
  const left: Record<string, number> = { ...stock };
  const gets: Record<string, number> = {};
  const crafts: string[] = [];
  const provide = (item: string, count: number): void => {
    const recipe = recipes.find((one) => one.item === item);
    if (recipe === undefined) {
      const lacking = Math.max(0, count - (left[item] ?? 0));
      if (lacking > 0) gets[item] = (gets[item] ?? 0) + lacking;
      left[item] = (left[item] ?? 0) + lacking;
      return;
    }
    while ((left[item] ?? 0) < count) {
      // Each part is reserved as soon as it is there: a later part may be made of the same things.
      for (const [part, needed] of Object.entries(recipe.needs)) {
        provide(part, needed);
        left[part] = left[part]! - needed;
      }
      crafts.push(craftOf(recipe));
      left[item] = (left[item] ?? 0) + recipe.count;
    }
  };
  provide(goal, 1);
  return [...Object.entries(gets).map(([item, count]) => `get ${count} ${item}`), ...crafts];
}
