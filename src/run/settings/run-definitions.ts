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
import type { ObjectiveMethod } from '../../objective/contract/define.ts';
import { objectiveEntry } from '../../objective/objectives.ts';
import type { ContextStrategy } from '../../rollout/context/strategy.ts';
import { builtIns, type Catalogue } from '../../train/config/catalogue.ts';
import { spelledOut, type TrainConfig, type TrainSettings } from '../../train/config/config.ts';
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
import { spelledAssignment } from './run-settings.ts';

/**
 * The settings of a run that a program starts. Where a setting names a method, it takes a definition as well: what
 * `defineCreditMethod`, `defineShaping`, `defineObjective` or `defineContext` returned.
 *
 * @example
 * const settings: RunSettings = {
 *   credit: { method: mine, shape: new Map([[hurry, { cost: 0.02 }]]) },
 *   objective: { name: bounded, options: { bound: 1 } },
 *   context: { name: opening, messages: 2 },
 * };
 */
export interface RunSettings extends Omit<TrainSettings, 'credit' | 'objective' | 'context'> {
  /** A name or a definition; or an object with it as `name`, `trained`, and the options of the context as further keys. */
  readonly context?:
    | string
    | ContextStrategy
    | {
        readonly name?: string | ContextStrategy | undefined;
        readonly trained?: boolean | undefined;
        readonly [option: string]: unknown;
      }
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
  config: Pick<RunSettings, 'context' | 'credit' | 'objective'>,
  given: readonly Definition[] = [],
  run?: string,
): Promise<Catalogue> {
  const naming = new Naming(given, run);
  const { context, credit, objective } = config;
  await naming.settings({ context, credit, objective });
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
    const value = assignment.slice(at + 1);
    const key = spelledAssignment(`${assignment.slice(0, Math.max(0, at))}=`).slice(0, -1);
    named.push(at < 1 ? assignment : `${key}=${await naming.text(key, value)}`);
  }
  return { set: named, catalogue: naming.catalogue };
}

/**
 * Whether the credit and the loss still take the options that a run has: a file may have changed since it began.
 *
 * @throws TurnwiseError `config-unknown-key`, `config-invalid`
 */
export function requireOptions(
  recipe: Recipe,
  { credit, objective }: TrainConfig,
  catalogue: Catalogue,
): void {
  const { method, rewardScale: _, shape, ...options } = credit;
  composeCredit({ method, options, shape }, catalogue);
  if (recipe.learn === undefined) lossOptions(objective, catalogue);
}

/** The definitions among the settings that are objects of the program. */
export function definitionsIn({ context, objective, credit }: RunSettings): Definition[] {
  const shapings = credit?.shape instanceof Map ? [...(credit.shape as Map<unknown, unknown>).keys()] : [];
  return [contextIn(context)?.name, objective?.name, credit?.method, ...shapings].filter(
    (value): value is Definition => kindOf(value) !== undefined,
  );
}

const CODE = 'code:';

const KINDS: Readonly<Record<string, SettingKind>> = {
  'credit.method': 'credit-method',
  'credit.shape': 'reward-shaping',
  'objective.name': 'objective',
  'context.name': 'context',
};

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

  async settings({ context, objective, credit, ...rest }: RunSettings): Promise<TrainSettings> {
    const shape = credit?.shape;
    return {
      ...rest,
      ...(context !== undefined && { context: await this.#context(contextIn(context)!) }),
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
          ...(shape !== undefined && { shape: await this.#shape(shape) }),
        },
      }),
    } as TrainSettings;
  }

  /** The value of an assignment. */
  async text(key: string, value: string): Promise<string> {
    if (/^credit\.shape\.[./\\]/.test(key)) throw dottedFile(key, value);
    if (key === 'credit.shape') {
      const shape = shapeOf(value);
      return shape === undefined ? value : JSON.stringify(await this.#shape(shape));
    }
    return key in KINDS ? ((await this.name(key, value)) as string) : value;
  }

  async #context({ name, ...rest }: NamedContext): Promise<TrainSettings['context']> {
    return {
      ...rest,
      ...(name !== undefined && { name: (await this.name('context.name', name)) as string }),
    };
  }

  async #shape(
    shape: Readonly<Record<string, unknown>> | ReadonlyMap<unknown, unknown>,
  ): Promise<Record<string, Json>> {
    const entries = shape instanceof Map ? [...shape] : Object.entries(shape as object);
    const named: Record<string, Json> = {};
    for (const [name, options] of entries) named[(await this.name('credit.shape', name)) as string] = options;
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
  { credit, shapings, objectives, contexts }: Catalogue,
  kind: SettingKind,
  name: string,
  definition: Definition,
  subject: string,
): Catalogue {
  const as = <Kind extends SettingKind>(_: Kind): Definitions[Kind] => definition as Definitions[Kind];
  switch (kind) {
    case 'credit-method': {
      const method = as(kind);
      const create = (options: unknown) => method.create(options, subject);
      return { credit: credit.with(name, { ...method, create }), shapings, objectives, contexts };
    }
    case 'reward-shaping': {
      const shaping = as(kind);
      const create = (options: unknown) => shaping.create(options, subject);
      return { credit, shapings: shapings.with(name, { ...shaping, create }), objectives, contexts };
    }
    case 'objective':
      return {
        credit,
        shapings,
        objectives: objectives.with(name, objectiveEntry(as(kind), subject)),
        contexts,
      };
    case 'context':
      return {
        credit,
        shapings,
        objectives,
        contexts: contexts.with(name, inRun(as(kind), subject)),
      };
  }
}

function inRun(strategy: ContextStrategy, subject: string): ContextStrategy {
  return { ...strategy, create: (options, more) => strategy.create(options, { ...more, subject }) };
}

type NamedContext = Exclude<RunSettings['context'], string | ContextStrategy | undefined>;

/** However it is written, as an object with the name in it. */
function contextIn(context: RunSettings['context']): NamedContext | undefined {
  return kindOf(context) === undefined
    ? (spelledOut({ context }).context as NamedContext)
    : { name: context as ContextStrategy };
}

function shapeOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}

function dottedFile(key: string, value: string): TurnwiseError {
  const file = /^credit\.shape\.(.*?\.[cm]?[jt]sx?)(?:\.|$)/.exec(key)?.[1] ?? './shaping.ts';
  return new TurnwiseError('setting-syntax', {
    what: 'The path of a file cannot be part of a key, since dots divide keys',
    seen: `--set ${key}=${value}`,
    allowed: `--set 'credit.shape={"${file}":{}}', with the options inside`,
    fields: { key },
  });
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
