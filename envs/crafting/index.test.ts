import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { playEpisode } from '../../src/env/play.ts';
import { environmentLaws } from '../../src/testing/environment-laws.ts';
import { scores } from '../scores.test-helper.ts';
import { type CraftingState, crafting, world } from './index.ts';
import { type CraftingTask, drawTask, planFrom, rawItems } from './recipes.ts';

const defaults = world.options.parse({});
const environment = crafting(defaults);
const rng = Rng.of(0);

/** Fewest actions by breadth-first search over stocks, with the steps of the environment alone. */
function fewest(task: CraftingTask, most: number): number | undefined {
  let edge: CraftingState[] = [{ task, stock: {} }];
  const seen = new Set<string>();
  const raws = rawItems(task.recipes);
  for (let length = 1; length <= most; length++) {
    const next: CraftingState[] = [];
    for (const state of edge) {
      const crafts = environment.actions!(state).filter((action) => action.startsWith('craft'));
      const gets = raws.flatMap((item) => Array.from({ length: 8 }, (_, more) => `get ${more + 1} ${item}`));
      for (const action of [
        ...crafts,
        ...gets.filter((get) => !Object.hasOwn(state.stock, get.split(' ')[2]!)),
      ]) {
        const step = environment.step(state, action, rng);
        if (step.done) return length;
        const key = environment.anchor!(step.state);
        if (!seen.has(key)) next.push(step.state);
        seen.add(key);
      }
    }
    edge = next;
  }
  return undefined;
}

const LAMP: CraftingTask = {
  goal: 'lamp',
  depth: 2,
  recipes: [
    { item: 'lamp', count: 1, needs: { wire: 2, glass: 1 } },
    { item: 'wire', count: 2, needs: { copper: 1 } },
    { item: 'glass', count: 1, needs: { sand: 2 } },
    { item: 'sword', count: 1, needs: { copper: 2 } },
  ],
};
const at = (stock: CraftingState['stock']): CraftingState => ({ task: LAMP, stock });
const step = (stock: CraftingState['stock'], action: string) => environment.step(at(stock), action, rng);

describe('oracle', () => {
  it('the expert makes every goal in the fewest actions that a search finds', async () => {
    const game = world.create(defaults);
    const compared: number[] = [];
    for (let index = 0; index < 60; index++) {
      const task = environment.tasks('test').at(index);
      const played = await playEpisode(game, task as never, index, 'expert');
      expect(played).toMatchObject({ success: true, outcome: 1 });
      if (planFrom(task, {}).length > 4 || compared.length > 12) continue;
      compared.push(task.depth);
      expect(played.turns).toHaveLength(fewest(task, 4)!);
    }
    expect(new Set(compared).size).toBeGreaterThan(1);
  });

  it('what is over from a craft is used, and distractors are not', () => {
    expect(planFrom(LAMP, {})).toEqual([
      'get 1 copper',
      'get 2 sand',
      'craft 2 wire using 1 copper',
      'craft 1 glass using 2 sand',
      'craft 1 lamp using 1 glass 2 wire',
    ]);
    expect(planFrom(LAMP, { wire: 2, sand: 1 })[0]).toBe('get 1 sand');
  });

  it('goals of each depth are drawn, and a depth is that of the longest chain', () => {
    const draws = Array.from({ length: 200 }, (_, index) =>
      drawTask(index % 2 === 0 ? 'fixed' : 'drawn', 4, 2, Rng.of('draw', index)),
    );
    expect(new Set(draws.map(({ depth }) => depth))).toEqual(new Set([1, 2, 3, 4]));
    const depthOf = ({ recipes }: CraftingTask, item: string): number => {
      const recipe = recipes.find((one) => one.item === item);
      return recipe
        ? 1 +
            Math.max(
              ...Object.keys(recipe.needs).map((part) => depthOf({ goal: '', recipes, depth: 0 }, part)),
            )
        : 0;
    };
    const needed = (task: CraftingTask, item: string): Set<string> => {
      const parts = Object.keys(task.recipes.find((one) => one.item === item)?.needs ?? {});
      return new Set([item, ...parts.flatMap((part) => [...needed(task, part)])]);
    };
    for (const task of draws) {
      expect(depthOf(task, task.goal)).toBe(task.depth);
      expect(task.recipes).toHaveLength(
        task.recipes.filter(({ item }) => needed(task, task.goal).has(item)).length + 2,
      );
    }
  });
});

describe('rules', () => {
  it('raw things are fetched without end, and crafted ones are not', () => {
    expect(step({}, 'get 3 sand')).toMatchObject({ valid: true, reward: 0, state: { stock: { sand: 3 } } });
    for (const action of [
      'get 1 wire',
      'get 1 gold',
      'get 0 sand',
      'get sand',
      'get 1.5 sand',
      'get 1 sand 1 copper',
    ])
      expect(step({}, action)).toMatchObject({ valid: false, state: { stock: {} } });
  });

  it('a craft uses up what it names and gives what its recipe says, whatever number is asked for', () => {
    for (const action of [
      'craft 2 wire using 1 copper',
      'craft wire using 1 copper',
      'craft 9 wire using 1 copper',
    ])
      expect(step({ copper: 1 }, action)).toMatchObject({ valid: true, state: { stock: { wire: 2 } } });
    for (const action of ['craft 2 wire using 2 copper', 'craft 2 wire', 'craft 1 glass using 2 sand'])
      expect(step({ copper: 2 }, action)).toMatchObject({ valid: false, state: { stock: { copper: 2 } } });
    expect(step({ wire: 2, glass: 1 }, 'craft 1 lamp using 2 wire, 1 glass')).toMatchObject({
      ...{ reward: 1, done: true, success: true, observation: 'made', metrics: { depth: 2 } },
    });
  });

  it('opens with the recipes in the words of the commands, the goal last', () => {
    expect(environment.start(LAMP, rng).messages[0]!.content).toMatchInlineSnapshot(
      `"craft 1 lamp using 1 glass 2 wire ; craft 2 wire using 1 copper ; craft 1 glass using 2 sand ; craft 1 sword using 2 copper ; goal lamp have nothing"`,
    );
    expect(environment.natural!.observe(at({ copper: 1, sand: 2 }))).toMatchInlineSnapshot(
      `"Recipes: 1 lamp from 1 glass, 2 wire. 2 wire from 1 copper. 1 glass from 2 sand. 1 sword from 2 copper. Goal: lamp. You have 1 copper, 2 sand."`,
    );
  });
});

it('scripted players do as the README says', { timeout: 60_000 }, async () => {
  expect(await scores(world.create(defaults), 200)).toMatchInlineSnapshot(`
    [
      "expert 1.000 1.000 3.83",
      "beginner 0.550 0.550 14.58",
      "random 0.355 0.355 17.32",
    ]
  `);
});

it('keeps the laws at every depth', () =>
  environmentLaws(world, { options: [{ depth: 4, distractors: 5, book: 'drawn' }], episodes: 10 }));
