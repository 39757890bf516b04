/** Definitions of a user, each from a file: a credit method, a loss, a context, a source of tasks, a recipe and so on. */

import { DEFINITION_WORDS, type DefinitionKind, kindOf } from '../../core/definition.ts';
import type { CreditMethod } from '../../credit/contract/method.ts';
import type { RewardShaping } from '../../credit/shaping/shaping.ts';
import type { DefinedCuration } from '../../curation/curation.ts';
import type { DefinedTasks } from '../../curation/task-source.ts';
import type { ObjectiveMethod } from '../../objective/contract/define.ts';
import type { ContextStrategy } from '../../rollout/context.ts';
import type { DefinedTurns } from '../../rollout/turns/turn-control.ts';
import type { Recipe } from '../../train/recipes/recipe.ts';
import { type FromFile, loadExport } from './load-export.ts';
import { isPath } from './world-source.ts';

/** What a definition of each kind is. */
export interface Definitions {
  readonly 'credit-method': CreditMethod;
  readonly 'reward-shaping': RewardShaping;
  readonly objective: ObjectiveMethod;
  readonly context: ContextStrategy;
  readonly tasks: DefinedTasks;
  readonly turns: DefinedTurns;
  readonly curation: DefinedCuration;
  readonly recipe: Recipe;
}

/** The kinds that a setting may name. */
export type SettingKind = Exclude<DefinitionKind, 'recipe'>;
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

/** As its author calls it. */
export function definitionName(definition: Definition): string {
  return 'description' in definition ? definition.description.name : definition.name;
}
