/** Where the names in a configuration are looked up: what is built in, and what a user brings to one run. */

import type { Registry } from '../../core/registry.ts';
import { builtInCredit, type CreditCatalogue } from '../../credit/shaping/shapings.ts';
import type { DefinedCuration, OpenCuration } from '../../curation/curation.ts';
import { curationRegistry, tasksRegistry } from '../../curation/registry.ts';
import type { DefinedTasks, Tasks } from '../../curation/tasks/task-source.ts';
import { type ObjectiveEntry, policyLossRegistry } from '../../objective/objectives.ts';
import type { DefinedPrompts, Prompts } from '../../prompts/prompt-source.ts';
import type { DefinedProposer } from '../../prompts/proposer.ts';
import { promptsRegistry, proposerRegistry } from '../../prompts/registry.ts';
import { contextRegistry } from '../../rollout/context/contexts.ts';
import type { ContextStrategy } from '../../rollout/context/strategy.ts';
import type { DefinedTurns, Turns } from '../../rollout/turns/turn-control.ts';
import { turnsRegistry } from '../../rollout/turns/turn-controls.ts';

export interface Catalogue extends CreditCatalogue {
  /** Those that can be the policy loss of a run. */
  readonly objectives: Registry<ObjectiveEntry>;
  readonly contexts: Registry<ContextStrategy>;
  readonly tasks: Registry<DefinedTasks>;
  readonly turns: Registry<DefinedTurns>;
  readonly curations: Registry<DefinedCuration>;
  readonly prompts: Registry<DefinedPrompts>;
  readonly proposers: Registry<DefinedProposer>;
}

export const builtIns: Catalogue = {
  ...builtInCredit,
  objectives: policyLossRegistry,
  contexts: contextRegistry,
  tasks: tasksRegistry,
  turns: turnsRegistry,
  curations: curationRegistry,
  prompts: promptsRegistry,
  proposers: proposerRegistry,
};

/** A name with the options beside it. */
interface Named {
  readonly name: string;
  readonly [option: string]: unknown;
}

export function openTasks({ name, ...options }: Named, { tasks }: Catalogue = builtIns): Tasks {
  return tasks.find(name).create(options);
}

export function openTurns({ name, ...options }: Named, { turns }: Catalogue = builtIns): Turns {
  return turns.find(name).create(options);
}

export function openPrompts(
  { name, proposer: _, alone: __, ...options }: Named,
  { prompts }: Catalogue = builtIns,
): Prompts {
  return prompts.find(name).create(options);
}

/** The curations of a run by their names, in their order. */
export function openCurations(
  curation: Readonly<Record<string, unknown>>,
  { curations }: Catalogue = builtIns,
): ReadonlyMap<string, OpenCuration> {
  return new Map(
    Object.entries(curation).map(([name, options]) => [name, curations.find(name).create(options)] as const),
  );
}
