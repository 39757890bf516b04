/** The definitions that a setting may name, by kind; and a catalogue that has one more of them. */

import { type DefinitionKind, kindOf, subjectOf } from '../../core/definition.ts';
import type { CreditMethod } from '../../credit/contract/method.ts';
import type { RewardShaping } from '../../credit/shaping/shaping.ts';
import type { DefinedCuration } from '../../curation/curation.ts';
import type { DefinedTasks } from '../../curation/tasks/task-source.ts';
import type { ObjectiveMethod } from '../../objective/contract/define.ts';
import { objectiveEntry } from '../../objective/objectives.ts';
import type { DefinedPrompts } from '../../prompts/prompt-source.ts';
import type { DefinedProposer } from '../../prompts/proposer.ts';
import type { ContextStrategy } from '../../rollout/context/strategy.ts';
import type { DefinedTurns } from '../../rollout/turns/turn-control.ts';
import type { Catalogue } from './catalogue.ts';

/** What a definition of each kind is. */
export interface SettingDefinitions {
  readonly 'credit-method': CreditMethod;
  readonly 'reward-shaping': RewardShaping;
  readonly objective: ObjectiveMethod;
  readonly context: ContextStrategy;
  readonly tasks: DefinedTasks;
  readonly turns: DefinedTurns;
  readonly curation: DefinedCuration;
  readonly prompts: DefinedPrompts;
  readonly proposer: DefinedProposer;
}

/** The kinds that a setting may name. */
export type SettingKind = Exclude<DefinitionKind, 'recipe'>;
export type SettingDefinition = SettingDefinitions[SettingKind];

/** The setting that names each kind; shapings and curations are keys there. */
export const NAMING_KEYS = {
  'credit.method': 'credit-method',
  'credit.shape': 'reward-shaping',
  'objective.name': 'objective',
  'context.name': 'context',
  'tasks.name': 'tasks',
  'turns.name': 'turns',
  curation: 'curation',
  'prompts.name': 'prompts',
  'prompts.proposer': 'proposer',
} as const satisfies Readonly<Record<string, SettingKind>>;
export type NamingKey = keyof typeof NAMING_KEYS;

export const isNamingKey = (key: string): key is NamingKey => Object.hasOwn(NAMING_KEYS, key);

export function isSettingDefinition<Kind extends SettingKind>(
  kind: Kind,
  value: unknown,
): value is SettingDefinitions[Kind] {
  return kindOf(value) === kind;
}

/** As its author calls it. */
export function definitionName(definition: SettingDefinition): string {
  return 'description' in definition ? definition.description.name : definition.name;
}

/**
 * The catalogue with a definition under a name of the run.
 *
 * @param place ends what messages call it: ` of /home/me/mine.ts`
 */
export function withDefinition(
  catalogue: Catalogue,
  kind: SettingKind,
  name: string,
  definition: SettingDefinition,
  place = '',
): Catalogue {
  const subject = `${subjectOf(kind, definitionName(definition))}${place}`;
  const as = <Kind extends SettingKind>(_: Kind): SettingDefinitions[Kind] =>
    definition as SettingDefinitions[Kind];
  const named = <Made extends { create(options?: unknown, subject?: string): unknown }>(
    made: Made,
  ): Made => ({
    ...made,
    create: (options: unknown) => made.create(options, subject),
  });
  const { credit, shapings, objectives, contexts, tasks, turns, curations, prompts, proposers } = catalogue;
  switch (kind) {
    case 'credit-method':
      return { ...catalogue, credit: credit.with(name, named(as(kind))) };
    case 'reward-shaping':
      return { ...catalogue, shapings: shapings.with(name, named(as(kind))) };
    case 'objective':
      return { ...catalogue, objectives: objectives.with(name, objectiveEntry(as(kind), subject)) };
    case 'context':
      return { ...catalogue, contexts: contexts.with(name, inRun(as(kind), subject)) };
    case 'tasks':
      return { ...catalogue, tasks: tasks.with(name, named(as(kind))) };
    case 'turns':
      return { ...catalogue, turns: turns.with(name, named(as(kind))) };
    case 'curation':
      return { ...catalogue, curations: curations.with(name, named(as(kind))) };
    case 'prompts':
      return { ...catalogue, prompts: prompts.with(name, named(as(kind))) };
    case 'proposer':
      return { ...catalogue, proposers: proposers.with(name, named(as(kind))) };
  }
}

/** Its `create` takes more than a subject. */
function inRun(strategy: ContextStrategy, subject: string): ContextStrategy {
  return { ...strategy, create: (options, more) => strategy.create(options, { ...more, subject }) };
}
