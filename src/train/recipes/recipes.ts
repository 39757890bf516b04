/** All recipes: the one place where names meet compositions. */

import { nearest, TurnwiseError } from '../../core/errors.ts';
import { grpo } from './grpo.ts';
import { ppo } from './ppo.ts';
import type { Recipe } from './recipe.ts';
import { reinforcePlusPlus } from './reinforce-plus-plus.ts';
import { rloo } from './rloo.ts';
import { selfPlay } from './self-play.ts';

export const recipes: readonly Recipe[] = [rloo, grpo, reinforcePlusPlus, ppo, selfPlay];

/** The recipe of this name; an unknown one is an error that names the nearest. */
export function findRecipe(name: string): Recipe {
  const recipe = recipes.find((candidate) => candidate.name === name);
  if (recipe) return recipe;
  const names = recipes.map((candidate) => candidate.name);
  const near = nearest(name, names);
  throw new TurnwiseError('recipe-unknown', {
    what: `There is no recipe "${name}"`,
    allowed: names.join(', '),
    ...(near ? { next: `Did you mean "${near}"?` } : {}),
    fields: { recipe: name },
  });
}
