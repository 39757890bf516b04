/** The settings of a program, in which definitions may stand where a configuration has their names. */

import { kindOf } from '../../core/definition.ts';
import type { CreditMethod } from '../../credit/contract/method.ts';
import type { RewardShaping } from '../../credit/shaping/shaping.ts';
import type { DefinedCuration } from '../../curation/curation.ts';
import type { DefinedTasks } from '../../curation/tasks/task-source.ts';
import type { ObjectiveMethod } from '../../objective/contract/define.ts';
import type { DefinedPrompts } from '../../prompts/prompt-source.ts';
import type { DefinedProposer } from '../../prompts/proposer.ts';
import type { ContextStrategy } from '../../rollout/context/strategy.ts';
import type { DefinedTurns } from '../../rollout/turns/turn-control.ts';
import type { TrainSettings } from './config.ts';
import { NAMING_KEYS, type NamingKey, type SettingDefinition } from './setting-definitions.ts';

/**
 * The settings of a run that a program starts. Where a setting names a method, it takes a definition as well: what
 * `defineCreditMethod`, `defineShaping`, `defineObjective`, `defineContext`, `defineTasks`, `defineTurns`, `defineCuration`,
 * `definePrompts` or `defineProposer` returned.
 *
 * @example
 * const settings: RunSettings = {
 *   credit: { method: mine, shape: new Map([[hurry, { cost: 0.02 }]]) },
 *   objective: { name: bounded, options: { bound: 1 } },
 *   context: { name: opening, messages: 2 },
 *   turns: { name: again, attempts: 3 },
 *   curation: new Map([[overTurns, {}]]),
 * };
 */
export interface RunSettings
  extends Omit<
    TrainSettings,
    'credit' | 'objective' | 'context' | 'tasks' | 'turns' | 'curation' | 'prompts'
  > {
  /** By name, or with options; of a context `trained`, too. */
  readonly context?: Named<ContextStrategy>;
  readonly tasks?: Named<DefinedTasks>;
  readonly turns?: Named<DefinedTurns>;
  readonly prompts?:
    | string
    | DefinedPrompts
    | {
        readonly name?: string | DefinedPrompts | undefined;
        readonly proposer?: string | DefinedProposer | undefined;
        readonly alone?: boolean | undefined;
        readonly [option: string]: unknown;
      }
    | undefined;
  /** Options by name, one after another; false leaves one out. A map where a key is a definition. */
  readonly curation?:
    | Readonly<Record<string, unknown>>
    | ReadonlyMap<string | DefinedCuration, object | false>
    | undefined;
  readonly objective?:
    | (Omit<NonNullable<TrainSettings['objective']>, 'name'> & {
        readonly name?: string | ObjectiveMethod | undefined;
      })
    | undefined;
  /** Further keys are the options of the method. */
  readonly credit?:
    | {
        readonly method?: string | CreditMethod | undefined;
        readonly rewardScale?: number | undefined;
        /** Options by the name of the shaping; false leaves one out. A map where a key is a definition. */
        readonly shape?:
          | Readonly<Record<string, unknown>>
          | ReadonlyMap<string | RewardShaping, object | false>
          | undefined;
        readonly [option: string]: unknown;
      }
    | undefined;
}

/** A name or a definition, alone or with its options beside it. */
export type Named<Defined> =
  | string
  | Defined
  | { readonly name?: string | Defined | undefined; readonly [option: string]: unknown }
  | undefined;

/** The name or definition in a group, or that stands for it. */
const nameIn = (group: Named<unknown>): unknown =>
  typeof group === 'object' && group !== null && kindOf(group) === undefined
    ? (group as { readonly name?: unknown }).name
    : group;

/** The same settings, in their order, with another name in each place that names something. */
export function renamed(
  settings: RunSettings,
  name: (key: NamingKey, value: unknown) => unknown,
): TrainSettings {
  const entries = Object.entries(settings).map(([key, given]: [string, unknown]) => [
    key,
    given === undefined || given === null ? given : renamedGroup(key, given, name),
  ]);
  return Object.fromEntries(entries) as TrainSettings;
}

function renamedGroup(
  group: string,
  given: object | string | number | boolean,
  name: (key: NamingKey, value: unknown) => unknown,
): unknown {
  const keys = (key: NamingKey, map: object): object => {
    const entries = map instanceof Map ? [...map] : Object.entries(map);
    return Object.fromEntries(entries.map(([own, options]) => [name(key, own) as string, options]));
  };
  switch (group) {
    case 'context':
    case 'tasks':
    case 'turns': {
      const named = nameIn(given as Named<unknown>);
      const options = named === given ? {} : (given as object);
      return named === undefined ? options : { ...options, name: name(`${group}.name`, named) };
    }
    case 'prompts': {
      const named = nameIn(given as Named<unknown>);
      const options = (named === given ? {} : given) as { readonly proposer?: unknown };
      return {
        ...options,
        ...(named !== undefined && { name: name('prompts.name', named) }),
        ...(options.proposer !== undefined &&
          options.proposer !== '' && { proposer: name('prompts.proposer', options.proposer) }),
      };
    }
    case 'curation':
      return keys(group, given as object);
    case 'objective': {
      const objective = given as NonNullable<RunSettings['objective']>;
      if (objective.name === undefined) return objective;
      return { ...objective, name: name('objective.name', objective.name) };
    }
    case 'credit': {
      const credit = given as NonNullable<RunSettings['credit']>;
      const { method, shape } = credit;
      return {
        ...credit,
        ...(method !== undefined && { method: name('credit.method', method) }),
        ...(shape !== undefined && { shape: keys('credit.shape', shape) }),
      };
    }
    default:
      return given;
  }
}

/** What the settings name, each with the setting that does, in the order of `renamed`. */
export function namesIn(settings: RunSettings): readonly (readonly [key: NamingKey, value: unknown])[] {
  const names: (readonly [NamingKey, unknown])[] = [];
  renamed(settings, (key, value) => {
    names.push([key, value]);
    return value;
  });
  return names;
}

/** The definitions among the settings that are objects of the program. */
export function definitionsIn(settings: RunSettings): SettingDefinition[] {
  return namesIn(settings).flatMap(([key, value]) =>
    kindOf(value) === NAMING_KEYS[key] ? [value as SettingDefinition] : [],
  );
}
