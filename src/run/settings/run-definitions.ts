/**
 * What settings name beside built-in names: definitions from files, and objects of a program. A run has them in its own
 * catalogue, by the name that `config.json` keeps: the absolute path of the file, or `code:NAME`.
 */

import { DEFINITION_WORDS, kindOf } from '../../core/definition.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { Json } from '../../core/json/json.ts';
import { valueText } from '../../core/safe-text.ts';
import type { CreditMethod } from '../../credit/contract/method.ts';
import type { RewardShaping } from '../../credit/shaping/shaping.ts';
import { composeCredit } from '../../credit/shaping/shapings.ts';
import type { DefinedCuration } from '../../curation/curation.ts';
import type { DefinedTasks } from '../../curation/task-source.ts';
import type { ObjectiveMethod } from '../../objective/contract/define.ts';
import { objectiveEntry } from '../../objective/objectives.ts';
import type { ContextStrategy } from '../../rollout/context/strategy.ts';
import type { DefinedTurns } from '../../rollout/turns/turn-control.ts';
import {
  builtIns,
  type Catalogue,
  openCurations,
  openTasks,
  openTurns,
} from '../../train/config/catalogue.ts';
import type { TrainConfig, TrainSettings } from '../../train/config/config.ts';
import { lossOptions } from '../../train/kit/policy-objective.ts';
import type { Recipe } from '../../train/recipes/recipe.ts';
import {
  type Definition,
  type Definitions,
  definitionName,
  isDefinition,
  isFileReference,
  loadDefinition,
  type SettingKind,
} from '../load/definitions.ts';
import { withArticle } from '../load/load-export.ts';
import { objectOf } from './object-of.ts';

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
type Named<Defined> =
  | string
  | Defined
  | { readonly name?: string | Defined | undefined; readonly [option: string]: unknown }
  | undefined;

/** Settings in which everything has a name, and the catalogue that knows all of these names. */
export interface NamedSettings {
  readonly settings: TrainSettings;
  readonly catalogue: Catalogue;
}

/**
 * Load what the settings name.
 *
 * @throws TurnwiseError `file-unknown`, `file-unusable`, `config-invalid` for an object that is something else
 */
export async function nameDefinitions(settings: RunSettings): Promise<NamedSettings> {
  const naming = new Naming();
  const named = await naming.settings(settings);
  return { settings: named, catalogue: naming.catalogue };
}

/**
 * The catalogue of a run that exists.
 *
 * @param given what only a program has
 * @throws TurnwiseError `definition-in-code` where something was made in code and is not given; as `nameDefinitions`
 */
export async function catalogueOf(
  config: Pick<RunSettings, 'context' | 'credit' | 'objective' | 'tasks' | 'turns' | 'curation'>,
  given: readonly Definition[] = [],
  run?: string,
): Promise<Catalogue> {
  const naming = new Naming(given, run);
  const { context, credit, objective, tasks, turns, curation } = config;
  await naming.settings({ context, credit, objective, tasks, turns, curation });
  return naming.catalogue;
}

/** A credit method and shapings, each a name or a file: what `turnwise credit` is told. */
export async function nameCredit(
  method: string,
  shape: readonly string[],
): Promise<{
  readonly method: CreditMethod;
  /** Each with what `--set` calls it: a shaping from a file has the name that its author gave it. */
  readonly shapings: readonly (readonly [called: string, shaping: RewardShaping])[];
  readonly catalogue: Catalogue;
}> {
  const naming = new Naming();
  const named = (await naming.name('credit.method', method)) as string;
  const names = await Promise.all(shape.map((one) => naming.name('credit.shape', one) as Promise<string>));
  const { catalogue } = naming;
  const shapings = names.map((name) => {
    const shaping = catalogue.shapings.find(name);
    return [naming.called.get(shaping.name) ?? shaping.name, shaping] as const;
  });
  return { method: catalogue.credit.find(named), shapings, catalogue };
}

/** `key=value` assignments with the files that they name as absolute paths, and the catalogue that has what is in them. */
export async function nameInAssignments(
  set: readonly string[],
): Promise<{ readonly set: readonly string[]; readonly catalogue: Catalogue }> {
  const naming = new Naming();
  const named: string[] = [];
  for (const assignment of set) {
    const at = assignment.indexOf('=');
    const [written, value] = [assignment.slice(0, Math.max(0, at)), assignment.slice(at + 1)];
    const key = isNameAlone(written, value) ? `${written}.name` : written;
    named.push(at < 1 ? assignment : `${key}=${await naming.text(key, value)}`);
  }
  return { set: named, catalogue: naming.catalogue };
}

/**
 * Whether what the settings name still takes the options that a run has: a file may have changed since it began.
 *
 * @throws TurnwiseError `config-unknown-key`, `config-invalid`
 */
export function requireOptions(
  recipe: Recipe,
  { credit, objective, tasks, turns, curation }: TrainConfig,
  catalogue: Catalogue,
): void {
  const { method, rewardScale: _, shape, ...options } = credit;
  composeCredit({ method, options, shape }, catalogue);
  if (recipe.learn === undefined) lossOptions(objective, catalogue);
  openTasks(tasks, catalogue);
  openTurns(turns, catalogue);
  openCurations(curation, catalogue);
}

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
const isNameAlone = (key: string, value: string): boolean =>
  `${key}.name` in KINDS && key !== 'objective' && !value.startsWith('{');

/** The name or definition in a group, or that stands for it. */
const nameIn = (group: Named<unknown>): unknown =>
  typeof group === 'object' && group !== null && kindOf(group) === undefined
    ? (group as { readonly name?: unknown }).name
    : group;

/** Gives each definition the name by which the run knows it. */
class Naming {
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
    const { noun } = DEFINITION_WORDS[kind];
    const subject = `${noun[0]!.toUpperCase()}${noun.slice(1)} "${definitionName(definition)}"${place}`;
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

function dottedFile(key: string, value: string): TurnwiseError {
  const group = key.startsWith('curation') ? 'curation' : 'credit.shape';
  const file = /^(.*?\.[cm]?[jt]sx?)(?:\.|$)/.exec(key.slice(group.length + 1))?.[1] ?? './mine.ts';
  return new TurnwiseError('setting-syntax', {
    what: 'The path of a file cannot be part of a key, since dots divide keys',
    seen: `--set ${key}=${value}`,
    allowed: `--set '${group}={"${file}":{}}', with the options inside`,
    fields: { key },
  });
}

/** Its `create` takes more than a subject. */
function inRun(strategy: ContextStrategy, subject: string): ContextStrategy {
  return { ...strategy, create: (options, more) => strategy.create(options, { ...more, subject }) };
}

function notOfKind(key: string, kind: SettingKind, value: unknown): TurnwiseError {
  const { noun, maker } = DEFINITION_WORDS[kind];
  const other = kindOf(value);
  return new TurnwiseError('config-invalid', {
    what: `"${key}" is not ${withArticle(noun)}`,
    seen: other === undefined ? valueText(value) : withArticle(DEFINITION_WORDS[other].noun),
    allowed: `a name, a file, or what ${maker} returns`,
    fields: { key },
  });
}

function definitionInCode(kind: SettingKind, name: string, run = 'NAME'): TurnwiseError {
  const { noun } = DEFINITION_WORDS[kind];
  return new TurnwiseError('definition-in-code', {
    what: `${run === 'NAME' ? 'This' : `Run "${run}"`} was trained with the ${noun} "${name}", an object made in code, which cannot be loaded from here`,
    next: `Go on in that program with resume('${run}', { definitions: [...] }), or define it in a file`,
    fields: { definition: name },
  });
}

/** The file of a run that exists was moved, or changed so that it does not have the definition any more. */
function definitionLost(kind: SettingKind, source: string, run: string, cause: TurnwiseError): TurnwiseError {
  return new TurnwiseError('definition-lost', {
    what: `Run "${run}" was trained with the ${DEFINITION_WORDS[kind].noun} of ${source}, which cannot be loaded any more: ${cause.message.replace(/\.$/, '')}`,
    next: 'Restore the file, then run the same command again',
    fields: { run, path: source },
    cause,
  });
}
