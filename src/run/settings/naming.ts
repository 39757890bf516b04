/** Gives each definition the name by which a run knows it, and puts it into the catalogue of that run. */

import { subjectOf } from '../../core/definition.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { Json } from '../../core/json/json.ts';
import { objectiveEntry } from '../../objective/objectives.ts';
import type { ContextStrategy } from '../../rollout/context/strategy.ts';
import { builtIns, type Catalogue } from '../../train/config/catalogue.ts';
import type { TrainSettings } from '../../train/config/config.ts';
import {
  type Definition,
  type Definitions,
  definitionName,
  isDefinition,
  isFileReference,
  loadDefinition,
  type SettingKind,
} from '../load/definitions.ts';
import { definitionInCode, definitionLost, dottedFile, notOfKind } from './definition-refusals.ts';
import { objectOf } from './object-of.ts';
import { type Named, nameIn, type RunSettings } from './setting-objects.ts';

const CODE = 'code:';

const KINDS: Readonly<Record<string, SettingKind>> = {
  'credit.method': 'credit-method',
  'credit.shape': 'reward-shaping',
  'objective.name': 'objective',
  'context.name': 'context',
  'tasks.name': 'tasks',
  'turns.name': 'turns',
  curation: 'curation',
};

/** Whether an assignment to a group gives the name in it: `turns=until-void` for `turns.name=until-void`. */
export const isNameAlone = (key: string, value: string): boolean =>
  `${key}.name` in KINDS && key !== 'objective' && !value.startsWith('{');

export class Naming {
  readonly #given: readonly Definition[];
  readonly #run: string | undefined;
  catalogue: Catalogue = builtIns;
  /** What its author calls each, by its name in the run. */
  readonly called: Map<string, string> = new Map();

  constructor(given: readonly Definition[] = [], run?: string) {
    this.#given = given;
    this.#run = run;
  }

  async settings({
    context,
    objective,
    credit,
    tasks,
    turns,
    curation,
    ...rest
  }: RunSettings): Promise<TrainSettings> {
    const shape = credit?.shape;
    return {
      ...rest,
      ...(context !== undefined && { context: await this.#group('context', context) }),
      ...(tasks !== undefined && { tasks: await this.#group('tasks', tasks) }),
      ...(turns !== undefined && { turns: await this.#group('turns', turns) }),
      ...(curation !== undefined && { curation: await this.#keys('curation', curation) }),
      ...(objective && {
        objective: {
          ...objective,
          ...(objective.name !== undefined && {
            name: await this.name('objective.name', objective.name),
          }),
        },
      }),
      ...(credit && {
        credit: {
          ...credit,
          ...(credit.method !== undefined && { method: await this.name('credit.method', credit.method) }),
          ...(shape !== undefined && { shape: await this.#keys('credit.shape', shape) }),
        },
      }),
    } as TrainSettings;
  }

  /** The value of an assignment. */
  async text(key: string, value: string): Promise<string> {
    if (/^(credit\.shape|curation)\.[./\\]/.test(key)) throw dottedFile(key, value);
    if (key === 'credit.shape' || key === 'curation') {
      const entries = objectOf(value);
      return entries === undefined ? value : JSON.stringify(await this.#keys(key, entries));
    }
    return key in KINDS ? ((await this.name(key, value)) as string) : value;
  }

  /** A group with the name of what it names. */
  async #group(key: 'context' | 'tasks' | 'turns', group: Named<unknown>): Promise<object> {
    const named = nameIn(group);
    const name = named === undefined ? undefined : await this.name(`${key}.name`, named);
    const options = named === group ? {} : (group as object);
    return { ...options, ...(name !== undefined && { name }) };
  }

  /** Options by the names of what their keys name, in the order of the keys. */
  async #keys(
    key: 'credit.shape' | 'curation',
    given: Readonly<Record<string, unknown>> | ReadonlyMap<unknown, unknown>,
  ): Promise<Record<string, Json>> {
    const entries = given instanceof Map ? [...given] : Object.entries(given as object);
    const named: Record<string, Json> = {};
    for (const [name, options] of entries) named[(await this.name(key, name)) as string] = options;
    return named;
  }

  /** What the setting `key` is called in `config.json`. */
  async name(key: string, value: unknown): Promise<unknown> {
    const kind = KINDS[key]!;
    if (typeof value !== 'string') {
      if (!isDefinition(kind, value)) throw notOfKind(key, kind, value);
      return this.#add(kind, `${CODE}${definitionName(value)}`, value, '');
    }
    if (value.startsWith(CODE)) {
      const found = this.#given.find(
        (one) => isDefinition(kind, one) && CODE + definitionName(one) === value,
      );
      if (found === undefined) throw definitionInCode(kind, value.slice(CODE.length), this.#run);
      return this.#add(kind, value, found, '');
    }
    if (!isFileReference(value)) return value;
    const { value: definition, source } = await this.#load(kind, value);
    return this.#add(kind, source, definition, ` of ${source}`);
  }

  async #load(kind: SettingKind, reference: string): ReturnType<typeof loadDefinition<SettingKind>> {
    try {
      return await loadDefinition(kind, reference);
    } catch (error) {
      if (this.#run === undefined || !TurnwiseError.isInstance(error)) throw error;
      throw definitionLost(kind, reference, this.#run, error);
    }
  }

  #add(kind: SettingKind, name: string, definition: Definition, place: string): string {
    const subject = `${subjectOf(kind, definitionName(definition))}${place}`;
    this.called.set(name, definitionName(definition));
    this.catalogue = withDefinition(this.catalogue, kind, name, definition, subject);
    return name;
  }
}

/** Whose code it is stands in every message about it. */
function withDefinition(
  catalogue: Catalogue,
  kind: SettingKind,
  name: string,
  definition: Definition,
  subject: string,
): Catalogue {
  const as = <Kind extends SettingKind>(_: Kind): Definitions[Kind] => definition as Definitions[Kind];
  const named = <Made extends { create(options?: unknown, subject?: string): unknown }>(
    made: Made,
  ): Made => ({
    ...made,
    create: (options: unknown) => made.create(options, subject),
  });
  const { credit, shapings, objectives, contexts, tasks, turns, curations } = catalogue;
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
  }
}

/** Its `create` takes more than a subject. */
function inRun(strategy: ContextStrategy, subject: string): ContextStrategy {
  return { ...strategy, create: (options, more) => strategy.create(options, { ...more, subject }) };
}
