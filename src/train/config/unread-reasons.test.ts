/** Every setting that a recipe does not read is refused with a reason, and the recipes that the reason names do read it. */

import { expect, test } from 'vitest';
import { playsWith } from '../recipes/recipe.ts';
import { findRecipe, recipes } from '../recipes/recipes.ts';
import { trainConfigSchema } from './config.ts';
import { choicesIn, leavesOf, requireRead, runSchema } from './run-schema.ts';
import { whyUnread } from './unread-reasons.ts';

const leaves = leavesOf(trainConfigSchema);
const readIn = (name: string, data?: string): ((key: string) => boolean) => {
  const recipe = findRecipe(name);
  const choices = choicesIn(recipe.settings, data === undefined ? {} : { data });
  const own = leavesOf(runSchema(recipe, choices));
  return (key) => own.some((leaf) => key === leaf || key.startsWith(`${leaf}.`));
};

const uses = recipes.flatMap(({ name, learnsFrom = 'played' }) =>
  (learnsFrom === 'either' ? ['', 'demonstrations'] : [undefined]).map((data) => [name, data] as const),
);

test.each(uses)('%s with data=%s', (name, data) => {
  const recipe = findRecipe(name);
  const { learnsFrom = 'played' } = recipe;
  const known = data ?? recipe.settings.data ?? '';
  const setting = {
    recipe,
    data: known,
    loss: recipe.settings.objective?.name ?? 'ppo-clip',
    plays: playsWith({ learnsFrom }, known),
  };
  const unread = leaves.filter((leaf) => !readIn(name, data)(leaf));
  const wrong = unread.flatMap((key) => {
    const why = whyUnread({ ...setting, key });
    if (why === undefined) return [`${key}: no reason`];
    const others = why
      .replace(/objective\.name=\S+/, '')
      .split(/[^\w+-]+/)
      .filter((word) => recipes.some((one) => one.name === word));
    return others.every((other) => readIn(other, '')(key)) ? [] : [`${key}: ${why}`];
  });
  expect(wrong).toEqual([]);
});

test('the refusal says the reason of the block that is not read', () => {
  const refusal = (name: string, settings: object): string => {
    const recipe = findRecipe(name);
    try {
      requireRead(recipe, choicesIn(recipe.settings, settings), settings);
    } catch (error) {
      return (error as Error).message;
    }
    return 'nothing was refused';
  };
  expect([
    refusal('sft', { turns: { name: 'retry' } }),
    refusal('dpo', { data: 'demonstrations', curation: { varied: {} } }),
    refusal('rloo', { critic: { updates: 3 } }),
    refusal('filtered-bc', { credit: { method: 'gae' } }),
    refusal('tree-grpo', { branching: { explorer: 'mcts' } }),
    refusal('rloo', { objective: { name: 'policy-gradient', clipLow: 0.1 } }),
    refusal('rloo', { teacher: 'RUN' }),
  ]).toMatchInlineSnapshot(`
    [
      "The recipe "sft" does not read "turns.name" with data=demonstrations: it learns from recorded episodes and plays none, as rloo does. Leave it out, or choose a recipe that reads it.",
      "The recipe "dpo" does not read "curation.varied" with data=demonstrations: it learns from the recorded episodes of data=demonstrations and plays none, which it does with an empty data. Leave it out, or choose a recipe that reads it.",
      "The recipe "rloo" does not read "critic.updates": it has no critic in a model of its own, as digi-q has. Leave it out, or choose a recipe that reads it.",
      "The recipe "filtered-bc" does not read "credit.method" with data=demonstrations: it learns without the advantages of a credit method, by which rloo learns. Leave it out, or choose a recipe that reads it.",
      "The recipe "tree-grpo" does not read "branching.explorer": it branches episodes by an explorer of its own, where rloo leaves open how they branch. Allowed: branching.initial, branching.alpha, branching.beta, branching.threshold, branching.width. Leave it out, or choose a recipe that reads it.",
      "The recipe "rloo" does not read "objective.clipLow": the policy loss objective.name=policy-gradient clips no ratios of tokens, as ppo-clip does. Allowed: objective.name, objective.entropyCoefficient, objective.entropySmoothing, objective.smoothing.size, objective.smoothing.low, objective.smoothing.high, objective.smoothing.penalty, objective.smoothing.fades, objective.klCoefficient, objective.klEstimator, objective.aggregation, objective.constant. Leave it out, or choose a recipe that reads it.",
      "The recipe "rloo" does not read "teacher": it learns from no teacher that scores tokens, as on-policy-distillation does. Leave it out, or choose a recipe that reads it.",
    ]
  `);
});
