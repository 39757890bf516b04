/** What the command line may set for a run: the keys of its configuration, its environment and its credit method. */

import type { z } from 'zod';
import type { WorldFactory } from '../../env/factory.ts';
import { policyRoles } from '../../env/world.ts';
import { builtIns, type Catalogue } from '../../train/config/catalogue.ts';
import type { TrainSettings } from '../../train/config/config.ts';
import { catalogueWith } from '../../train/config/own-definitions.ts';
import { choicesIn, isRead, requireRead, wholeSchema } from '../../train/config/run-schema.ts';
import type { Recipe } from '../../train/recipes/recipe.ts';
import { objectOf } from './object-of.ts';
import { applySettings } from './settings.ts';

/**
 * The settings that `key=value` assignments make, each key checked by name.
 *
 * @throws TurnwiseError `setting-syntax`, `config-unknown-key`, `config-invalid`
 */
export function readSettings(
  factory: WorldFactory,
  recipe: Recipe,
  set: readonly string[],
  given: Catalogue = builtIns,
): TrainSettings {
  const catalogue = catalogueWith(recipe, given);
  const written = writtenChoices(set);
  for (const assignment of set.map(spelledAssignment)) {
    const [key, value] = assignment.split('=', 2);
    if (key && value !== undefined)
      requireRead(recipe, choicesIn(recipe.settings, factory.settings, written), nested(key), catalogue);
  }
  const schema = settingsSchema(factory.options, recipe, set, catalogue, factory.settings);
  return applySettings(schema, {}, set.map(spelledAssignment), `training ${factory.name}`) as TrainSettings;
}

/**
 * The settings of a run, with those of its environment and of what is named in them, so that each key is checked by name.
 *
 * @param suggested by the environment
 */
export function settingsSchema(
  environment: z.ZodType | undefined,
  recipe: Recipe | undefined,
  set: readonly string[],
  catalogue: Catalogue = builtIns,
  suggested?: TrainSettings,
): z.ZodType {
  const choices = choicesIn(recipe?.settings, suggested, writtenChoices(set));
  return wholeSchema(recipe, choices, environment, catalogueWith(recipe, catalogue));
}

/** The assignments that a recipe reads, and those that none of the recipes does, which are refused later. */
export function readOf(
  recipe: Recipe,
  recipes: readonly Recipe[],
  set: readonly string[],
  catalogue: Catalogue = builtIns,
): string[] {
  return set.filter(
    (assignment) =>
      reads(recipe, assignment, set, catalogue) ||
      !recipes.some((other) => reads(other, assignment, set, catalogue)),
  );
}

/** Whether a recipe reads an assignment beside others. */
export function reads(
  recipe: Recipe,
  assignment: string,
  beside: readonly string[],
  catalogue: Catalogue = builtIns,
): boolean {
  const [key = ''] = spelledAssignment(assignment).split('=', 1);
  const known = catalogueWith(recipe, catalogue);
  return isRead(recipe, choicesIn(recipe.settings, writtenChoices(beside)), nested(key), known);
}

/** `context=NAME` is short for `context.name=NAME`. */
export const spelledAssignment = (assignment: string): string =>
  assignment.replace(/^context=/, 'context.name=');

/** The choices among `key=value` assignments. */
function writtenChoices(set: readonly string[]): TrainSettings {
  const assignments = set.map(spelledAssignment);
  const last = (key: string): string | undefined =>
    assignments.findLast((assignment) => assignment.startsWith(`${key}=`))?.slice(key.length + 1);
  const [data, name, method] = [last('data'), last('objective.name'), last('credit.method')];
  const [tasks, turns, prompts] = [last('tasks.name'), last('turns.name'), last('prompts.name')];
  const context = last('context.name');
  const [curation, shape] = [namedIn('curation', assignments), namedIn('credit.shape', assignments)];
  return {
    ...(data !== undefined && { data }),
    ...(name !== undefined && { objective: { name } }),
    ...(curation && { curation }),
    ...((method !== undefined || shape) && { credit: { method, ...(shape && { shape }) } }),
    ...(tasks !== undefined && { tasks: { name: tasks } }),
    ...(turns !== undefined && { turns: { name: turns } }),
    ...(prompts !== undefined && { prompts: { name: prompts } }),
    ...(context !== undefined && { context: { name: context } }),
  };
}

/** The names in an open group, from `group.NAME…=` and `group={"NAME":…}`; false for those that were left out at last. */
function namedIn(group: string, assignments: readonly string[]): Record<string, object | false> | undefined {
  const named: Record<string, object | false> = {};
  for (const assignment of assignments) {
    const at = assignment.indexOf('=');
    const [key, value] = [assignment.slice(0, Math.max(0, at)), assignment.slice(at + 1)];
    if (key.startsWith(`${group}.`))
      named[key.slice(group.length + 1).split('.')[0]!] = value !== 'false' && {};
    if (key === group) {
      for (const [name, options] of Object.entries(objectOf(value) ?? {}))
        named[name] = options !== false && {};
    }
  }
  return Object.keys(named).length === 0 ? undefined : named;
}

/** `a.b` as settings that say something of it. */
function nested(key: string): TrainSettings {
  return key.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), true) as TrainSettings;
}

/** The recipe of whoever names none. */
export function defaultRecipe(factory: WorldFactory): string {
  return policyRoles(factory.create(factory.options.parse({}))).length > 1 ? 'self-play' : 'rloo';
}
