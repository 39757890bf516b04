/** The parts of a recipe say what it reads: each setting that counts shows, and no other. */

import { expect, test } from 'vitest';
import { z } from 'zod';
import type { TrainConfig } from '../train/config/config.ts';
import { resolveConfig } from '../train/config/resolve.ts';
import { isRead } from '../train/config/run-schema.ts';
import type { Recipe } from '../train/recipes/recipe.ts';
import { findRecipe, recipes } from '../train/recipes/recipes.ts';
import { recipeParts } from './recipe-parts.ts';

const changes = {
  rollout: { tasks: 777, group: 778, minimumMembers: 7 },
  objective: {
    ...{ clipLow: 0.123, clipHigh: 0.321, dualClip: 7, aggregation: 'sequence-mean-token-sum' },
    ...{ entropyCoefficient: 0.011, klCoefficient: 0.012, valueCoefficient: 0.77, valueWarmup: 9 },
  },
  replay: { size: 771, updates: 772, batch: 773 },
  critic: {
    ...{ updates: 774, warmupSteps: 775, learningRate: 0.077, discount: 0.78, targetRate: 0.79 },
    ...{ strength: 7.5, candidates: 776 },
  },
  optimizer: { learningRate: 0.0123, minibatches: 79, epochs: 78 },
} as const;

type Group = keyof typeof changes;
const leaves = Object.entries(changes).flatMap(([group, values]) =>
  Object.entries(values).map(([name, value]) => [group as Group, name, value as unknown] as const),
);

const partsOf = (recipe: Recipe, config: TrainConfig): Record<string, string> =>
  Object.fromEntries(recipeParts(recipe, config).map(({ part, text }) => [part, text]));
const configOf = (recipe: Recipe, data: string | undefined): TrainConfig =>
  resolveConfig({
    recipe,
    environmentOptions: z.looseObject({}),
    settings: data === undefined ? {} : { data },
  });

const played = recipes.map((recipe) => [`${recipe.name}`, recipe, undefined] as const);
const otherwise = recipes
  .filter(({ learnsFrom }) => learnsFrom === 'either')
  .map((recipe) => {
    const data = recipe.settings.data === undefined ? 'demonstrations' : '';
    return [`${recipe.name} with data '${data}'`, recipe, data] as const;
  });

test.each([...played, ...otherwise])(
  '%s: what it reads is shown, and nothing else',
  (_name, recipe, data) => {
    const config = configOf(recipe, data);
    const text = JSON.stringify(partsOf(recipe, config));
    const choices = { data: config.data, loss: config.objective.name };
    const wrong = leaves.filter(([group, name, value]) => {
      const changed = { ...config, [group]: { ...config[group], [name]: value } };
      const isShown = JSON.stringify(partsOf(recipe, changed)) !== text;
      return isShown !== isRead(recipe, choices, { [group]: { [name]: value } });
    });
    expect(wrong).toEqual([]);
  },
);

test('where it learns from again, and how often', () => {
  const parts = (name: string, data?: string) => {
    const recipe = findRecipe(name);
    return partsOf(recipe, configOf(recipe, data));
  };
  expect(parts('dpo').memory).toBeUndefined();
  expect(parts('dpo', 'pairs.jsonl').memory).toBe('all recorded episodes; 64 at a time');
  expect(parts('filtered-bc', '').memory).toBe('the latest 1000 episodes; 64 at a time');
  expect(parts('filtered-bc').memory).toBe('all recorded episodes; 64 at a time');
  expect(parts('sft-rl').memory).toBe('all recorded episodes; 64 at a time');
  expect(parts('spear-sil').memory).toBe('episodes that it chooses, of the last 5 steps; 64 at a time');
  expect(parts('sft')).toMatchObject({
    objective: 'no options',
    schedule: 'learning rate 0.002, cosine, 5 steps of warm-up; 4 updates a step',
  });
  expect(parts('rloo')).toMatchObject({
    objective: 'clip −0.2 to +0.28, dual clip 3; token-mean',
    schedule: 'learning rate 0.0005, linear, 5 steps of warm-up; 2 optimizer steps a batch, 1 epoch',
  });
});
