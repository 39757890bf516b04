import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { resolveConfig } from '../config/resolve.ts';
import { needsOf } from '../fit/fit.ts';
import type { Recipe } from './recipe.ts';
import { recipes } from './recipes.ts';

/** Those to which an episode says nothing without others of its task: everything else learns from a group of one. */
const compareGroups = [
  // The outcome against those of the group.
  ...['rloo', 'grpo', 'dr-grpo', 'dapo', 'gspo', 'cispo', 'reinforce++-baseline', 'epo', 'simpletir'],
  ...['clip-cov', 'kl-cov', 'tis', 'icepop', 'sequence-mask', 'cory', 'spear-sil', 'sft-rl'],
  // Turns against turns of the group as well.
  ...['gigpo', 'hgpo', 'step-grpo', 'igpo', 'matchtir', 'mt-grpo', 'g-ra', 'e-grpo'],
  // Branches of one tree.
  ...['earl', 'arpo', 'aepo', 'tree-grpo', 'malt', 'agent-q', 'agent-r', 'refuel'],
  // Episodes of a task in pairs.
  ...['dpo', 'rebel'],
];

const playing = recipes.filter(({ learnsFrom }) => learnsFrom !== 'recorded');
const configOf = (recipe: Recipe) =>
  resolveConfig({
    recipe,
    environmentOptions: z.strictObject({}),
    settings: { rollout: { group: 1 }, ...(recipe.learnsFrom === 'either' && { data: '' }) },
  });
const dropsAll = (recipe: Recipe): boolean =>
  needsOf(recipe, configOf(recipe)).some(({ key }) => key === 'rollout.group');

test('every name is that of a recipe', () => {
  const names = playing.map(({ name }) => name);
  expect(compareGroups.filter((name) => !names.includes(name))).toEqual([]);
});

describe.each(playing.map((recipe) => [recipe.name, recipe] as const))('%s', (name, recipe) => {
  if (compareGroups.includes(name))
    test('groups of one are refused, since all that is compared are groups', () => {
      expect(configOf(recipe).rollout.minimumMembers).toBeGreaterThan(1);
      expect(dropsAll(recipe)).toBe(true);
    });
  else
    test('tasks can be played once, and what is left of a group is learned from', () => {
      expect(configOf(recipe).rollout.minimumMembers).toBe(1);
      expect(dropsAll(recipe)).toBe(false);
    });
});
