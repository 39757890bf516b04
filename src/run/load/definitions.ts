/** Definitions of a user, each from a file: a credit method, a loss, a context, a source of tasks, a recipe and so on. */

import { DEFINITION_WORDS, type DefinitionKind, kindOf } from '../../core/definition.ts';
import { isPath } from '../../core/reference.ts';
import type { SettingDefinitions } from '../../train/config/setting-definitions.ts';
import type { Recipe } from '../../train/recipes/recipe.ts';
import { type FromFile, loadExport } from './load-export.ts';

/** What a definition of each kind is. */
export interface Definitions extends SettingDefinitions {
  readonly recipe: Recipe;
}

export type Definition = Definitions[DefinitionKind];

/** Whether a name means a file, with or without the `#name` of an export, rather than something built in. */
export const isFileReference: (name: string) => boolean = isPath;

/**
 * The definition that a file exports: the only one of its kind, or the one named as in `./mine.ts#name`.
 *
 * @param base the folder that a relative path starts from; default: the current one
 * @throws TurnwiseError `file-unknown`, `file-unusable`
 */
export function loadDefinition<Kind extends DefinitionKind>(
  kind: Kind,
  reference: string,
  base?: string,
): Promise<FromFile<Definitions[Kind]>> {
  const { noun, maker } = DEFINITION_WORDS[kind];
  const of = (value: unknown): Definitions[Kind] | undefined =>
    isDefinition(kind, value) ? value : undefined;
  return loadExport(reference, { noun, makers: maker, of }, base);
}

export function isDefinition<Kind extends DefinitionKind>(
  kind: Kind,
  value: unknown,
): value is Definitions[Kind] {
  return kindOf(value) === kind;
}
