/** The schema of the settings of one recipe: what it reads, and nothing else. Help, checks and `config.json` come from it. */

import { z } from 'zod';
import { nearest, TurnwiseError } from '../../core/errors.ts';
import { findPolicyLoss, ownOptions } from '../kit/policy-objective.ts';
import { leavesBranchingOpen, playsWith, type Recipe } from '../recipes/recipe.ts';
import {
  type Block,
  clip,
  everyRun,
  explored,
  played,
  policyGradient,
  sampling,
  valueHead,
} from './blocks.ts';
import { builtIns, type Catalogue } from './catalogue.ts';
import { type TrainConfig, type TrainSettings, trainConfigSchema } from './config.ts';
import { whyUnread } from './unread-reasons.ts';

type Plain = { readonly [key: string]: unknown };

/** The settings that decide which others are read. */
export interface Choices {
  readonly data?: string | undefined;
  readonly loss?: string | undefined;
  readonly method?: string | undefined;
  readonly context?: string | undefined;
  readonly tasks?: string | undefined;
  readonly turns?: string | undefined;
  readonly prompts?: string | undefined;
  /** Names beside each other, each with options of its own. */
  readonly curations?: readonly string[];
  readonly shapings?: readonly string[];
}

export function choicesIn(...layers: readonly (TrainSettings | undefined)[]): Choices {
  const last = (of: (settings: TrainSettings) => string | undefined): string | undefined =>
    layers.flatMap((layer) => (layer && of(layer)) ?? []).at(-1);
  return {
    data: last(({ data }) => data),
    loss: last(({ objective }) => objective?.name),
    method: last(({ credit }) => credit?.method),
    context: last(({ context }) => (typeof context === 'string' ? context : context?.name)),
    tasks: last(({ tasks }) => tasks?.name),
    turns: last(({ turns }) => turns?.name),
    prompts: last(({ prompts }) => prompts?.name),
    curations: layers.flatMap((layer) => namesIn(layer?.curation)),
    shapings: layers.flatMap((layer) => namesIn(layer?.credit?.shape)),
  };
}

/** `NAME=false` leaves one out. */
const namesIn = (group: unknown): string[] =>
  isPlain(group) ? Object.keys(group).filter((name) => group[name] !== false) : [];

/** What decides the schema of a recipe. */
interface Use {
  readonly plays: boolean;
  /** Its policy loss clips ratios of tokens. */
  readonly clips: boolean;
}

function useOf(recipe: Recipe, { data = '', loss = 'ppo-clip' }: Choices, catalogue: Catalogue): Use {
  const ofStep = recipe.learn === undefined;
  const clips = ofStep && findPolicyLoss(loss, catalogue).description.policyLoss?.clipsTokens !== undefined;
  return { plays: playsWith(recipe, data), clips };
}

function blocksOf(recipe: Recipe, { plays, clips }: Use): readonly Block[] {
  return [
    everyRun,
    ...(plays ? [sampling, played] : []),
    ...(plays && leavesBranchingOpen(recipe) ? [explored] : []),
    ...(recipe.playReads ? [recipe.playReads] : []),
    ...(recipe.reads ?? policyGradient)(plays),
    ...(clips ? [clip] : []),
    ...(recipe.learn === undefined && recipe.critic ? [valueHead] : []),
  ];
}

/** Whether it learns by the advantages of a credit method. */
export function readsCredit(
  { learnsFrom, reads = policyGradient }: Recipe,
  { data = '' }: Pick<Choices, 'data'>,
): boolean {
  return reads(playsWith({ ...(learnsFrom && { learnsFrom }) }, data)).some(({ credit }) => credit === true);
}

/** By recipe and use: a comparison asks for the same ones thousands of times. */
const made = new WeakMap<Recipe, Map<string, z.ZodObject>>();

/** What the recipe reads; options of what is named in it are left to their own schemas. */
export function runSchema(recipe: Recipe, choices: Choices, catalogue: Catalogue = builtIns): z.ZodObject {
  const use = useOf(recipe, choices, catalogue);
  const known = made.get(recipe) ?? new Map<string, z.ZodObject>();
  made.set(recipe, known);
  const key = `${use.plays} ${use.clips}`;
  const schema = known.get(key) ?? schemaOf(recipe, blocksOf(recipe, use));
  known.set(key, schema);
  return schema;
}

function schemaOf(recipe: Recipe, blocks: readonly Block[]): z.ZodObject {
  const groups = Object.entries(trainConfigSchema.shape).flatMap(([name, whole]): [string, z.ZodType][] => {
    const marks = blocks.flatMap((block) => block[name as keyof Block] ?? []);
    if (marks.length === 0) return [];
    if (marks.includes(true)) return [[name, whole]];
    const group = unwrap(whole) as z.ZodObject;
    const merged = Object.assign({}, ...marks) as Record<string, true | z.ZodType>;
    const leaves = Object.entries(group.shape).flatMap(([leaf, schema]) => {
      const mark = merged[leaf];
      return mark === undefined ? [] : [[leaf, mark === true ? schema : mark] as const];
    });
    const { description } = group;
    const own = z.strictObject(Object.fromEntries(leaves));
    return [[name, (description === undefined ? own : own.describe(description)).prefault({})]];
  });
  return z.strictObject({ ...Object.fromEntries(groups), ...recipe.options?.shape });
}

/** The same with the options of all that is named in it, and of an environment, each by name. */
export function wholeSchema(
  recipe: Recipe | undefined,
  choices: Choices,
  environment?: z.ZodType,
  catalogue: Catalogue = builtIns,
): z.ZodObject {
  const schema = recipe ? runSchema(recipe, choices, catalogue) : trainConfigSchema;
  const shape = schema.shape as Readonly<Record<string, z.ZodType | undefined>>;
  const { credit, objective, curation } = shape;
  const lossGroup = objective && (unwrap(objective) as z.ZodObject);
  const creditGroup = credit && withShapings(unwrap(credit) as z.ZodObject, choices, catalogue);
  // Names are looked up only where they are read: elsewhere it is said that they are not.
  const method =
    creditGroup?.shape.method && choices.method !== undefined
      ? catalogue.credit.find(choices.method).options
      : undefined;
  const named = [
    ['tasks', () => catalogue.tasks.find(choices.tasks ?? 'uniform').options],
    ['turns', () => catalogue.turns.find(choices.turns ?? 'usual').options],
    ['prompts', () => catalogue.prompts.find(choices.prompts ?? 'none').options],
    ['context', () => catalogue.contexts.find(choices.context ?? 'full').options],
  ] as const;
  const options = lossGroup?.shape.options && lossOptionsOf(recipe, choices, catalogue);
  const withOptions = named.flatMap(([key, find]) => {
    const group = shape[key];
    const own = group && find();
    if (!(own instanceof z.ZodObject)) return [];
    return [
      [key, z.strictObject({ ...(unwrap(group!) as z.ZodObject).shape, ...own.shape }).prefault({})] as const,
    ];
  });
  return schema.extend({
    ...Object.fromEntries(withOptions),
    ...(options && { objective: lossGroup.extend({ options }).prefault({}) }),
    ...(environment && { environment }),
    ...(curation && { curation: withNamed(curation, choices.curations, catalogue.curations) }),
    ...(creditGroup && {
      credit:
        method instanceof z.ZodObject
          ? z.strictObject({ ...creditGroup.shape, ...method.shape })
          : creditGroup.prefault({}),
    }),
  });
}

/** Of the policy loss, or of what else the recipe minimises; undefined where neither is named. */
function lossOptionsOf(
  recipe: Recipe | undefined,
  { loss }: Choices,
  catalogue: Catalogue,
): z.ZodType | undefined {
  if (recipe?.lossOptions) return recipe.lossOptions;
  return loss === undefined && recipe === undefined ? undefined : ownOptions(loss ?? 'ppo-clip', catalogue);
}

function withShapings(credit: z.ZodObject, { shapings }: Choices, catalogue: Catalogue): z.ZodObject {
  const shape = credit.shape.shape as z.ZodType | undefined;
  if (shape === undefined) return credit;
  return extended(credit, { shape: withNamed(shape, shapings, catalogue.shapings) });
}

/** An open group in which everything that is named has its options. */
function withNamed(
  group: z.ZodType,
  names: readonly string[] = [],
  known: { find(name: string): { readonly options: z.ZodType } },
): z.ZodType {
  const options = names.map((name) => [name, known.find(name).options] as const);
  const whole = extended(unwrap(group) as z.ZodObject, Object.fromEntries(options)).prefault({});
  return group.description === undefined ? whole : whole.describe(group.description);
}

/** What a group says of itself stays. */
function extended(group: z.ZodObject, more: z.ZodRawShape): z.ZodObject {
  const { description } = group;
  const whole = group.extend(more) as z.ZodObject;
  return description === undefined ? whole : whole.describe(description);
}

/** What a recipe leaves out of the settings of several. */
export function readBy(
  recipe: Recipe,
  settings: TrainSettings,
  choices: Choices = choicesIn(recipe.settings, settings),
  catalogue: Catalogue = builtIns,
): TrainSettings {
  return kept(runSchema(recipe, choices, catalogue), settings as Plain) as TrainSettings;
}

/** The part of a configuration that the recipe reads: what its `config.json` has. */
export function ownConfig(
  recipe: Recipe,
  config: TrainConfig,
  catalogue: Catalogue = builtIns,
): TrainSettings {
  const settings = config as TrainSettings;
  return readBy(recipe, settings, choicesIn(recipe.settings, settings), catalogue);
}

function kept(schema: z.ZodType, value: Plain): Plain {
  const inner = unwrap(schema);
  if (!(inner instanceof z.ZodObject)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, own]) => {
      const child = inner.shape[key] as z.ZodType | undefined;
      if (child === undefined) return isOpen(inner) ? [[key, own]] : [];
      return [[key, isPlain(own) ? kept(child, own) : own]];
    }),
  );
}

/**
 * Refuse settings that the run would not read, say why, and name the nearest that it would.
 *
 * @throws TurnwiseError `config-unknown-key`
 */
export function requireRead(
  recipe: Recipe,
  choices: Choices,
  settings: TrainSettings,
  catalogue: Catalogue = builtIns,
): void {
  const [key] = unread(recipe, choices, settings, catalogue);
  if (key === undefined) return;
  const read = leavesOf(wholeSchema(recipe, choices, undefined, catalogue));
  const group = key.split('.')[0]!;
  const beside = read.filter((other) => other.startsWith(`${group}.`));
  const { data = '', loss = 'ppo-clip' } = choices;
  const why = whyUnread({ key, recipe, data, loss, plays: playsWith(recipe, data) });
  const close = nearestRead(key, read);
  // With a reason, only a setting of the same name elsewhere is a better guess.
  const near = why === undefined || (close && leaf(close) === leaf(key)) ? close : undefined;
  const withData = data === '' ? '' : ` with data=${data}`;
  throw new TurnwiseError('config-unknown-key', {
    what: `The recipe "${recipe.name}" does not read "${key}"${withData}${why === undefined ? '' : `: ${why}`}`,
    ...(beside.length > 0 && { allowed: beside.join(', ') }),
    next: near ? `Did you mean "${near}"?` : 'Leave it out, or choose a recipe that reads it',
    fields: { key, recipe: recipe.name },
  });
}

export function isRead(
  recipe: Recipe,
  choices: Choices,
  settings: TrainSettings,
  catalogue: Catalogue = builtIns,
): boolean {
  return unread(recipe, choices, settings, catalogue).length === 0;
}

/** Settings that there are, and that the recipe has no use for. */
export function unread(
  recipe: Recipe,
  choices: Choices,
  settings: TrainSettings,
  catalogue: Catalogue = builtIns,
): string[] {
  const strange = missing(trainConfigSchema, settings as Plain);
  return missing(runSchema(recipe, choices, catalogue), settings as Plain).filter(
    (key) => !strange.includes(key),
  );
}

const leaf = (of: string): string => of.slice(of.lastIndexOf('.') + 1);

/** By the name of the leaf: among those beside it, then among all. */
function nearestRead(key: string, read: readonly string[]): string | undefined {
  const group = key.split('.')[0]!;
  const beside = read.filter((other) => other.startsWith(`${group}.`));
  // What is called `name` elsewhere names something else.
  for (const candidates of leaf(key) === 'name' ? [beside] : [beside, read]) {
    const near = nearest(leaf(key), candidates.map(leaf));
    if (near !== undefined) return candidates.find((candidate) => leaf(candidate) === near);
  }
  return nearest(key, read);
}

/** Dotted keys of leaves that the schema does not have. */
function missing(schema: z.ZodType, value: Plain, path: readonly string[] = []): string[] {
  const inner = unwrap(schema);
  if (!(inner instanceof z.ZodObject) || isOpen(inner)) return [];
  return Object.entries(value).flatMap(([key, own]) => {
    const child = inner.shape[key] as z.ZodType | undefined;
    const at = [...path, key];
    if (own === undefined) return [];
    if (child === undefined) return leafKeys(own, at);
    return isPlain(own) ? missing(child, own, at) : [];
  });
}

function leafKeys(value: unknown, path: readonly string[]): string[] {
  // `curation.varied={}` says something; a group without anything does not.
  const isLeaf = !isPlain(value) || (path.length > 1 && Object.keys(value).length === 0);
  if (isLeaf) return [path.join('.')];
  return Object.entries(value).flatMap(([key, own]) => leafKeys(own, [...path, key]));
}

/** Dotted keys of all leaves. */
export function leavesOf(schema: z.ZodType, path: readonly string[] = []): string[] {
  const inner = unwrap(schema);
  if (!(inner instanceof z.ZodObject)) return [path.join('.')];
  return Object.entries(inner.shape).flatMap(([key, child]) => leavesOf(child as z.ZodType, [...path, key]));
}

function unwrap(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodPrefault || schema instanceof z.ZodDefault
    ? unwrap(schema.unwrap() as z.ZodType)
    : schema;
}

const isOpen = ({ def }: z.ZodObject): boolean => def.catchall instanceof z.ZodUnknown;

function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
