/** The settings of a program, in which definitions may stand where a configuration has their names. */

import { kindOf } from '../../core/definition.ts';
import type { CreditMethod } from '../../credit/contract/method.ts';
import type { RewardShaping } from '../../credit/shaping/shaping.ts';
import type { DefinedCuration } from '../../curation/curation.ts';
import type { DefinedTasks } from '../../curation/task-source.ts';
import type { ObjectiveMethod } from '../../objective/contract/define.ts';
import type { ContextStrategy } from '../../rollout/context/strategy.ts';
import type { DefinedTurns } from '../../rollout/turns/turn-control.ts';
import type { TrainSettings } from '../../train/config/config.ts';
import type { Definition } from '../load/definitions.ts';

/**
 * The settings of a run that a program starts. Where a setting names a method, it takes a definition as well: what
 * `defineCreditMethod`, `defineShaping`, `defineObjective`, `defineContext`, `defineTasks`, `defineTurns` or `defineCuration`
 * returned.
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
  extends Omit<TrainSettings, 'credit' | 'objective' | 'context' | 'tasks' | 'turns' | 'curation'> {
  /** By name, or with options; of a context `trained`, too. */
  readonly context?: Named<ContextStrategy>;
  readonly tasks?: Named<DefinedTasks>;
  readonly turns?: Named<DefinedTurns>;
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
        /** Options by the name of the shaping; a map where a key is a definition. */
        readonly shape?:
          | Readonly<Record<string, unknown>>
          | ReadonlyMap<string | RewardShaping, object>
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
export const nameIn = (group: Named<unknown>): unknown =>
  typeof group === 'object' && group !== null && kindOf(group) === undefined
    ? (group as { readonly name?: unknown }).name
    : group;

/** The definitions among the settings that are objects of the program. */
export function definitionsIn({
  context,
  objective,
  credit,
  tasks,
  turns,
  curation,
}: RunSettings): Definition[] {
  const keysOf = (map: unknown): unknown[] =>
    map instanceof Map ? [...(map as Map<unknown, unknown>).keys()] : [];
  const named = [context, tasks, turns].map((group) => nameIn(group));
  return [
    ...[objective?.name, credit?.method, ...named],
    ...keysOf(credit?.shape),
    ...keysOf(curation),
  ].filter((value): value is Definition => kindOf(value) !== undefined);
}
