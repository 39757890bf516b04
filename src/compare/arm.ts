/** One arm of a comparison: a recipe with settings of its own, under a name. */

import { existsSync } from 'node:fs';
import { TurnwiseError } from '../core/errors.ts';
import { nameInAssignments } from '../run/settings/run-definitions.ts';
import { type NamedRecipe, nameRecipe } from '../run/settings/run-recipe.ts';
import type { Catalogue } from '../train/config/catalogue.ts';

export interface Arm {
  readonly name: string;
  readonly recipe: NamedRecipe['recipe'];
  /** What `--recipe` is told: a built-in name, or the absolute path of a file. */
  readonly source: string;
  /** `key=value`, after those of all arms. */
  readonly set: readonly string[];
}

/** @throws TurnwiseError `recipe-unknown`, `file-unknown`, `file-unusable` */
export async function armOf(name: string, recipe: string, set: readonly string[] = []): Promise<Arm> {
  const named = await nameRecipe(recipe);
  return { name, recipe: named.recipe, source: named.source, set };
}

/**
 * `NAME=RECIPE,key=value,key=value`, the recipe built in or of a file; a comma within a value ends it only before another
 * `key=`.
 *
 * @throws TurnwiseError `option-value`, `recipe-unknown`, `file-unknown`, `file-unusable`
 */
export async function parseArm(text: string): Promise<Arm> {
  const [head = '', ...set] = text.split(/,(?=[A-Za-z][\w.-]*=)/);
  const [, name = '', recipe = ''] = /^([^=]+)=(.+)$/.exec(head) ?? [];
  if (/^[A-Za-z0-9][\w.+ -]*$/.test(name) && recipe !== '') {
    return armOf(name, recipe, set);
  }
  throw new TurnwiseError('option-value', {
    what: 'The value of --arm is not allowed',
    seen: text,
    allowed:
      'NAME=RECIPE, then settings of that arm, such as --arm wide=grpo,model.width=256,rollout.group=16',
    fields: { option: '--arm' },
  });
}

/**
 * Recipes as arms that are called like them, then the arms.
 *
 * @throws TurnwiseError `option-value` where a name comes twice, and as parseArm
 */
export async function armsOf(recipes: readonly string[], arms: readonly string[]): Promise<readonly Arm[]> {
  const named = recipes.map(async (recipe) => {
    const arm = await armOf(recipe, recipe);
    return { ...arm, name: arm.recipe.name };
  });
  const all = await Promise.all([...named, ...arms.map(parseArm)]);
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

/** Local files that an arm names, its recipe or in its settings: what they hold decides the results too. */
export function filesOf({ source, set }: Pick<Arm, 'source' | 'set'>): readonly string[] {
  const named = [source, ...set.map((assignment) => assignment.slice(assignment.indexOf('=') + 1))];
  return named.flatMap((value) => {
    const [path = value] = value.split('#');
    return /[./\\]/.test(path) && existsSync(path) ? [path] : [];
  });
}
