/** A recipe: a named composition of credit, objective and schedule, with its source and defaults. */

import type { z } from 'zod';
import { badDefinition } from '../../core/definition.ts';
import type { Group } from '../../core/episode.ts';
import type { Json } from '../../core/json/json.ts';
import type { CreditField } from '../../credit/report/fields.ts';
import type { DecoderShape } from '../../model/decoder/decoder.ts';
import type { CollectOptions, GroupToPlay } from '../../rollout/collect.ts';
import type { Explorer } from '../../rollout/explore/tree.ts';
import type { Block, Reads } from '../config/blocks.ts';
import { type TrainConfig, type TrainSettings, trainConfigSchema } from '../config/config.ts';
import { type OwnDefinition, ownDefinitions } from '../config/own-definitions.ts';
import type { RunSettings } from '../config/setting-objects.ts';
import type { Kept, Learn } from '../kit/learn.ts';
import type { FoundFacts } from '../kit/turn-facts.ts';

export interface Recipe {
  readonly kind: 'recipe';
  readonly name: string;
  /** One line: what it does to the rewards and the loss. */
  readonly summary: string;
  /** Advantage and loss, a line each; `docs/methods.md` shows them as they are. */
  readonly formula: readonly string[];
  /** Ends the sentence "Use it when". */
  readonly use: string;
  /** Paper or other source. */
  readonly source: string;
  /** What the authors used, as they wrote it, where it is known; what runs here is in `settings`. */
  readonly authors: string;
  /** Whether it trains a value head. */
  readonly critic: boolean;
  /** What the environment must have. */
  readonly needs?: {
    readonly severalRoles?: boolean;
    readonly oneRole?: boolean;
    /** Roles that can all win: not a zero-sum game. */
    readonly cooperative?: boolean;
    /** A scripted expert. */
    readonly script?: boolean;
    /** Something that tells what should have been thought, and actions that can be told from thoughts. */
    readonly corrector?: boolean;
    /** Fields that the environment gives in `info.credit`, besides those that the credit method cannot do without. */
    readonly facts?: readonly CreditField[];
    /** `truth(task)`: completions that solve a task. */
    readonly truth?: boolean;
    /** A teacher that scores tokens; where recorded episodes may have its scores with them, unless there are such. */
    readonly teacher?: 'always' | 'unless-recorded';
    /** Its roles, by name. */
    readonly roles?: readonly string[];
    /** All episodes of a step at once: it counts, or remembers, by the step. Steps that are learned in parts are refused. */
    readonly wholeSteps?: true;
  };
  /**
   * Episodes that it plays, recorded ones where `data` names some and none are played, both, or recorded ones alone. Default:
   * played ones; then `data` names what is imitated before.
   */
  readonly learnsFrom?: 'played' | 'either' | 'both' | 'recorded';
  /** How the episodes of a task branch, where not each is played from the start. */
  readonly act?: (config: TrainConfig) => Explorer;
  /** How episodes are played, where neither an explorer nor each from the start will do. */
  readonly play?: (requests: readonly GroupToPlay[], options: CollectOptions) => Promise<Group[]>;
  /** What `act` and `play` read of the configuration. */
  readonly playReads?: Block;
  /** When what it does beyond another recipe does nothing: a run whose first steps are so is warned. */
  readonly idle?: Idle;
  /** What it remembers before its first step; `recorded` is what `data` names. Default: nothing. */
  readonly start?: (recorded: readonly Kept[]) => Json;
  /** What it finds out about turns before credit: its credit method reads it beside what the environment says. */
  readonly turnFacts?: FoundFacts;
  /** How it learns, where not from the episodes of the step by policy gradient. */
  readonly learn?: Learn;
  /** What `learn` reads of the configuration. Default: what policy gradients on the episodes of the step read. */
  readonly reads?: Reads;
  /** The schema of `objective.options` there, strict and with defaults for all fields. */
  readonly lossOptions?: z.ZodType;
  /** Settings of its own, beside those of every run: strict objects by name, with a default and a description for every field. */
  readonly options?: z.ZodObject;
  /** Keeps a copy of the policy: the warm start as a reference, or a target network. */
  readonly frozen?: boolean;
  /** Critics beside the policy, on its own body. */
  readonly heads?: NonNullable<DecoderShape['extraHeads']>;
  /** Which of them the policy is improved by when it acts. */
  readonly actsBy?: readonly string[];
  /** Critics in a model of their own. */
  readonly criticHeads?: NonNullable<DecoderShape['extraHeads']>;
  /** Each definition among them by its name, `recipe:NAME`. */
  readonly settings: TrainSettings;
  /** The definitions that it was given among its settings. */
  readonly own?: readonly OwnDefinition[];
}

/** A metric of every step that tells whether a mechanism is at work. */
export interface Idle {
  readonly metric: string;
  /** Up to here it is not. */
  readonly atMost: number;
  /** What that means for learning: a clause. */
  readonly means: string;
}

/** Whether episodes are played to learn from, where `data` names these; else recorded ones are all there is. */
export function playsWith({ learnsFrom = 'played' }: Pick<Recipe, 'learnsFrom'>, data: string): boolean {
  return learnsFrom === 'either' ? data === '' : learnsFrom !== 'recorded';
}

/** Whether a setting may say how episodes branch: recipes with an explorer, or a way of playing, of their own do not read it. */
export function leavesBranchingOpen({ act, play }: Pick<Recipe, 'act' | 'play'>): boolean {
  return act === undefined && play === undefined;
}

/** A recipe with settings, as `train({ recipe })` takes it. */
export interface ChosenRecipe {
  readonly recipe: Recipe;
  readonly settings: RunSettings;
}

/** A recipe is also the function that chooses it with settings: `grpo({ objective: { clipHigh: 0.3 } })`. */
export type RecipeFunction<Own extends z.ZodObject = Nothing> = Recipe &
  ((settings?: RunSettings & InputOf<Own>) => ChosenRecipe);

/** No settings of its own. */
type Nothing = z.ZodObject<Record<never, never>>;
type InputOf<Own extends z.ZodObject> = [keyof Own['shape']] extends [never] ? unknown : z.input<Own>;
type OutputOf<Own extends z.ZodObject> = [keyof Own['shape']] extends [never] ? unknown : z.output<Own>;

type Described = 'summary' | 'formula' | 'use' | 'source' | 'authors';

/** What `defineRecipe` takes: a name, and what differs from RLOO on the episodes of the step. */
export type RecipeDefinition<Own extends z.ZodObject, M extends Json> = Pick<Recipe, 'name'> &
  Partial<Omit<Recipe, 'kind' | 'name' | 'options' | 'act' | 'start' | 'learn' | 'settings'>> & {
    /** Defaults of its own. Where a setting names something, it takes a definition as well. */
    readonly settings?: RunSettings;
    readonly options?: Own;
    readonly act?: (config: TrainConfig & z.output<Own>) => Explorer;
    readonly start?: (recorded: readonly Kept[]) => M;
    readonly learn?: Learn<TrainConfig & OutputOf<Own>, M>;
  };

/**
 * Define a recipe: how episodes are played, credited and learned from, and which settings it reads. What is left out is as in
 * `rloo`: episodes from the start, the credit method of the settings, a clipped policy gradient.
 *
 * `act` gives an explorer, which says from which places of episodes others go on. Recipes that have one are refused where
 * nothing can branch.
 *
 * `settings` are defaults of its own. Where a setting names a method, they take a definition as well: the recipe brings it
 * along, and a run knows it as `recipe:NAME`.
 *
 * `learn` is given the settings of the run once a step, and then a `Trainer`, the usable groups of the step, and what it
 * remembers. It takes as many optimizer steps as it wants; what it returns is in the checkpoint.
 *
 * @example
 * export const best = defineRecipe({
 *   name: 'best-of-group',
 *   summary: 'the best episodes of every group are imitated',
 *   options: z.strictObject({
 *     best: z.strictObject({ share: z.number().min(0).max(1).default(0.25).describe('Share that is imitated') }).prefault({}),
 *   }),
 *   learn: ({ best }) => async (trainer, groups, { memory }) => {
 *     const chosen = groups.flatMap(({ members }) =>
 *       [...members].sort((a, b) => b.outcome - a.outcome).slice(0, Math.ceil(best.share * members.length)),
 *     );
 *     if (chosen.length > 0) await trainer.policy.learn(batchOf(averagedRows(recordedOf(chosen))), crossEntropy());
 *     return { memory, metrics: { 'best/episodes': chosen.length } };
 *   },
 * });
 * await train({ world: 'frozen-lake', recipe: best({ steps: 20 }) });
 *
 * @throws TurnwiseError `definition-invalid` for settings of its own that every run has, and for what `settings` cannot hold
 */
export function defineRecipe<M extends Json = Json, Own extends z.ZodObject = Nothing>(
  definition: RecipeDefinition<Own, M>,
): RecipeFunction<Own> {
  requireOwnNames(definition.name, definition.options);
  const described: Record<Described, unknown> = {
    summary: '',
    formula: [],
    use: '',
    source: '',
    authors: '',
  };
  const { settings, own } = ownDefinitions(definition.name, definition.settings ?? {}, definition.own);
  const parts = { kind: 'recipe', critic: false, ...described, ...definition, settings, own };
  const choose = (chosen = {}): ChosenRecipe => ({ recipe, settings: chosen });
  // A function has a name of its own.
  const recipe = Object.defineProperties(
    choose,
    Object.getOwnPropertyDescriptors(parts),
  ) as unknown as RecipeFunction<Own>;
  return recipe;
}

/** What every run has must not mean something else in one of them. */
function requireOwnNames(recipe: string, options: z.ZodObject | undefined): void {
  const taken = Object.keys(options?.shape ?? {}).find((name) => name in trainConfigSchema.shape);
  if (taken === undefined) return;
  throw badDefinition(
    `Recipe "${recipe}"`,
    `has settings of its own under "${taken}", which every run has`,
    taken,
    'another name, such as that of the recipe',
  );
}
