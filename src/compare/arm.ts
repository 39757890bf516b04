/** One arm of a comparison: a recipe with settings of its own, under a name. */

import { existsSync } from 'node:fs';
import { TurnwiseError } from '../core/errors.ts';
import { nameInAssignments } from '../run/settings/run-definitions.ts';
import type { Catalogue } from '../train/config/catalogue.ts';
import type { Recipe } from '../train/recipes/recipe.ts';
import { findRecipe } from '../train/recipes/recipes.ts';

export interface Arm {
  readonly name: string;
  readonly recipe: Recipe;
  /** `key=value`, after those of all arms. */
  readonly set: readonly string[];
}

/**
 * `NAME=RECIPE,key=value,key=value`; a comma within a value ends it only before another `key=`.
 *
 * @throws TurnwiseError `option-value`, `recipe-unknown`
 */
export function parseArm(text: string): Arm {
  const [head = '', ...set] = text.split(/,(?=[A-Za-z][\w.-]*=)/);
  const [, name = '', recipe = ''] = /^([^=]+)=(.+)$/.exec(head) ?? [];
  if (/^[A-Za-z0-9][\w.+ -]*$/.test(name) && recipe !== '') {
    return { name, recipe: findRecipe(recipe), set };
  }
  throw new TurnwiseError('option-value', {
    what: 'The value of --arm is not allowed',
    seen: text,
    allowed:
      'NAME=RECIPE, then settings of that arm, such as --arm wide=grpo,model.width=256,rollout.group=16',
    fields: { option: '--arm' },
  });
}

/** Recipes by their names as arms, then the arms. @throws TurnwiseError `option-value` where a name comes twice */
export function armsOf(recipes: readonly string[], arms: readonly string[]): readonly Arm[] {
  const all = [
    ...recipes.map((name) => ({ name, recipe: findRecipe(name), set: [] })),
    ...arms.map(parseArm),
  ];
  const names = all.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (all.length > 0 && twice === undefined) return all;
  throw new TurnwiseError('option-value', {
    what: 'The value of --recipes is not allowed',
    seen: twice === undefined ? 'nothing' : `${twice} twice`,
    allowed: 'different recipes, separated by commas, or arms: --arm NAME=RECIPE,KEY=VALUE',
    fields: { option: '--recipes' },
  });
}

/** Settings of all arms and of each, with the files that they name as absolute paths, and the catalogue that has what is in them. */
export async function namedIn(
  set: readonly string[],
  arms: readonly Arm[],
): Promise<{
  readonly set: readonly string[];
  readonly arms: readonly Arm[];
  readonly catalogue: Catalogue;
}> {
  const named = await nameInAssignments([...set, ...arms.flatMap((arm) => arm.set)]);
  let next = set.length;
  return {
    set: named.set.slice(0, set.length),
    arms: arms.map((arm) => {
      const first = next;
      next += arm.set.length;
      return { ...arm, set: named.set.slice(first, next) };
    }),
    catalogue: named.catalogue,
  };
}

/** Local files that the settings of an arm name: what they hold decides the results too. */
export function filesOf(set: readonly string[]): readonly string[] {
  return set.flatMap((assignment) => {
    const value = assignment.slice(assignment.indexOf('=') + 1);
    return /[./\\]/.test(value) && existsSync(value) ? [value] : [];
  });
}
