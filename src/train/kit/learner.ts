/** Everything a run works with: the task, the model's words, the engine, and how reward becomes a gradient. */

import type { ByRole, Role } from '../../core/episode.ts';
import type { Credit } from '../../credit/report/rollouts.ts';
import { composeCredit } from '../../credit/shaping/shapings.ts';
import type { OpenCuration } from '../../curation/curation.ts';
import type { Tasks } from '../../curation/tasks/task-source.ts';
import { countingScores, countingTokens } from '../../engine/delegate.ts';
import type { Engine } from '../../engine/engine.ts';
import type { World } from '../../env/world.ts';
import type { Renderer } from '../../model/chat/renderer.ts';
import { type Batching, continuous } from '../../policy/batching.ts';
import { enginePolicy, LEARNER } from '../../policy/engine-policy.ts';
import { Lockstep } from '../../policy/lockstep.ts';
import type { Policy } from '../../policy/policy.ts';
import { type Player, type PromptPlayer, seatedPolicy } from '../../policy/seated.ts';
import type { Prompts } from '../../prompts/prompt-source.ts';
import type { Proposer } from '../../prompts/proposer.ts';
import { agentNames } from '../../rollout/agent-names.ts';
import type { AskModel } from '../../rollout/ask-judge.ts';
import type { CollectOptions, Play } from '../../rollout/collect.ts';
import type { Context } from '../../rollout/context/strategy.ts';
import { demonstratedRules, type Turns } from '../../rollout/turns/turn-control.ts';
import type { Watch } from '../../rollout/watch.ts';
import { isSynchronous } from '../config/batch-settings.ts';
import {
  builtIns,
  type Catalogue,
  openCurations,
  openPrompts,
  openTasks,
  openTurns,
} from '../config/catalogue.ts';
import type { TrainConfig } from '../config/config.ts';
import { configsOf } from '../config/stages.ts';
import type { OwnProbe } from '../loop/probe.ts';
import type { ModelCard } from '../model-card.ts';
import { playsWith, type Recipe } from '../recipes/recipe.ts';
import type { Archive } from './archive.ts';
import type { Seats } from './seats.ts';

export interface Learner {
  readonly config: TrainConfig;
  readonly recipe: Recipe;
  /** Where the names in `config` are looked up. */
  readonly catalogue: Catalogue;
  readonly world: World;
  readonly card: ModelCard;
  readonly renderer: Renderer;
  readonly context: Context;
  readonly engine: Engine;
  /** Who is learned from, where the settings name a teacher: it scores the tokens of the policy. */
  readonly teacher?: Teacher;
  /** A model of its own for values, where the recipe has one. */
  readonly critic?: Engine;
  readonly credit: Credit;
  readonly tasks: Tasks;
  readonly turns: Turns;
  /** By their names, in their order. */
  readonly curations: ReadonlyMap<string, OpenCuration>;
  readonly prompts: Prompts;
  /** Writes new prompts, where the settings name one. */
  readonly proposer?: Proposer;
  /** The instruction of evaluations: the best one so far. */
  readonly instruction: Instruction;
  /** Episodes that are learned from again. */
  readonly archive: Archive;
  /** Tokens that its models were asked to score so far, and those that its recipe had them read and write. */
  scoredTokens(): number;
  countScored(tokens: number): void;
  /** Tokens that its engine processed so far, and who wants to know of more. */
  readonly processed: ProcessedTokens;
  /** Sees steps of an environment that never return. */
  readonly watch: Watch;
  /** Plays the episodes of a world whose code is its own, an agent's, with these players in its roles. */
  readonly playWith?: (playerOf: (role: Role) => PromptPlayer) => Play;
  /** Asks models elsewhere for scores of groups. */
  readonly askModel?: AskModel;
  /** Its name among the players. */
  readonly player: string;
  /** Further learners of the run, each with weights of its own. */
  readonly others: readonly Learner[];
  /** Who plays which role, where this learner does not play all. */
  readonly seats?: Seats;
  /** Of the user: what watches the run beside its own. */
  readonly probes?: readonly OwnProbe[];
}

/** A text that changes as the source of prompts learns. */
export interface Instruction {
  text: string;
}

/** Scores tokens as an engine does; with weights that nothing here changes. */
export type Teacher = Pick<Engine, 'score'>;

/** A count that tells of its changes. */
export interface ProcessedTokens {
  tokens: number;
  onChange?: () => void;
}

/** What the policy reads before its acts. */
export function contextOf(
  { context }: Pick<TrainConfig, 'context'>,
  { contexts }: Pick<Catalogue, 'contexts'> = builtIns,
): Context {
  const { name, trained, ...options } = context;
  return contexts.find(name).create(options, { trained });
}

type Made =
  | 'context'
  | 'credit'
  | 'tasks'
  | 'turns'
  | 'curations'
  | 'prompts'
  | 'instruction'
  | 'scoredTokens'
  | 'countScored'
  | 'processed';
type Defaulted = 'catalogue' | 'player' | 'others';

export function createLearner({
  catalogue = builtIns,
  player = LEARNER,
  others = [],
  ...parts
}: Omit<Learner, Made | Defaulted> & Partial<Pick<Learner, Defaulted>>): Learner {
  let scored = 0;
  const processed: ProcessedTokens = { tokens: 0 };
  const counted = countingTokens(parts.engine, (tokens) => {
    processed.tokens += tokens;
    processed.onChange?.();
  });
  const countScored = (tokens: number): void => {
    scored += tokens;
  };
  const engine = countingScores(counted, countScored);
  return {
    ...parts,
    // Those of a teacher and of a critic are spent like any other tokens that are scored.
    ...(parts.teacher && { teacher: countedTeacher(parts.teacher, countScored) }),
    ...(parts.critic && { critic: countingScores(parts.critic, countScored) }),
    catalogue,
    player,
    others,
    engine,
    processed,
    instruction: { text: '' },
    countScored,
    scoredTokens: () => others.reduce((sum, other) => sum + other.scoredTokens(), scored),
    ...partsOf(parts.config, catalogue),
  };
}

/** What the names in a configuration stand for. */
export function partsOf(
  config: TrainConfig,
  catalogue: Catalogue,
): Pick<Learner, 'context' | 'credit' | 'tasks' | 'turns' | 'curations' | 'prompts'> {
  const { method, rewardScale: _scale, shape, ...options } = config.credit;
  let composed: Credit | undefined;
  return {
    context: contextOf(config, catalogue),
    tasks: openTasks(config.tasks, catalogue),
    turns: openTurns(config.turns, catalogue),
    curations: openCurations(config.curation, catalogue),
    prompts: openPrompts(config.prompts, catalogue),
    // Whoever only plays needs no credit method, which may be out of reach.
    credit(trajectories, state) {
      composed ??= composeCredit({ method, options, shape }, catalogue).credit;
      return composed(trajectories, state);
    },
  };
}

function countedTeacher({ score }: Teacher, count: (tokens: number) => void): Teacher {
  return {
    score: (batch, options) => {
      count(batch.rows.reduce((sum, { ids_T }) => sum + ids_T.length, 0));
      return score(batch, options);
    },
  };
}

/** All learners of the run, this one first. */
export function learnersOf(learner: Learner): readonly Learner[] {
  return [learner, ...learner.others];
}

/** Keep the present weights where something compares with them: a penalty, a target network, a critic's own. */
export async function keepReference({ config, recipe, engine, critic }: Learner): Promise<void> {
  const isCompared = configsOf(config).some(({ objective }) => objective.klCoefficient > 0);
  if (isCompared || recipe.frozen) await engine.freeze();
  await critic?.freeze();
}

/** The critic's own model begins with the weights that the policy begins with, as imitated or taken from another run. */
export async function beginCritic({ engine, critic }: Learner): Promise<void> {
  if (engine.weights && critic?.adopt) await critic.adopt(await engine.weights());
}

/** Whether episodes are played to learn from; else recorded ones are all there is. */
export function playsEpisodes({ config, recipe }: Pick<Learner, 'config' | 'recipe'>): boolean {
  return playsWith(recipe, config.data);
}

/**
 * How this learner's policy plays in a step, counted from 1; evaluation changes the temperature, and has the agents in their
 * first roles.
 */
export function playOptions(learner: Learner, signal: AbortSignal, step = 1): CollectOptions {
  const { config, engine, renderer, world } = learner;
  const { temperature, topP, topK, choices, maxTurns, concurrency, turnTimeoutMs, exchangeEvery } =
    config.rollout;
  const batching = batchingOf(learner);
  const policy = enginePolicy(engine, renderer, batching);
  const { seats } = learner;
  const players = seats?.players(batching) ?? new Map<string, Player>();
  const seatedAs = (own: ByRole<string>): Policy => {
    const named = Object.entries({ ...seats?.seated, ...own });
    return seatedPolicy(policy, new Map(named.flatMap(([role, name]) => pairOf(role, players.get(name)))));
  };
  return {
    world,
    ...(seats && { counts: seats.learns, seatedAs }),
    policy: seatedAs({}),
    ...(learner.playWith && { play: learner.playWith(promptPlayers(learner, batching)) }),
    ...(learner.askModel && { askModel: learner.askModel }),
    ...(learner.instruction.text !== '' && { prompt: learner.instruction.text }),
    renderer,
    context: learner.context,
    sampling: { temperature, topP, topK },
    ...(choices && { choices }),
    maxTurns: maxTurns === 0 ? world.maxTurns : maxTurns,
    contextLength: engine.capabilities.contextLength,
    turnTimeoutMs,
    ...(exchangeEvery > 0 && { names: agentNames(world.roles, Math.floor((step - 1) / exchangeEvery)) }),
    seed: config.seed,
    signal,
    watch: learner.watch,
    batching,
    concurrency,
  };
}

/** How its policy plays where it is measured: under the turn control where the settings say so, as demonstrations are. */
export function evaluationOptions(learner: Learner, signal: AbortSignal): CollectOptions {
  const { config, turns } = learner;
  const options = playOptions(learner, signal);
  const rules = config.evaluation.turnControl
    ? demonstratedRules(turns, { seed: config.seed, usual: options.maxTurns })
    : undefined;
  return { ...options, ...(rules && { turns: rules }) };
}

/** Who plays the roles of an agent: learners and earlier selves (`player-source.ts`), which read prompts. */
export function promptPlayers(
  { engine, renderer, seats }: Pick<Learner, 'engine' | 'renderer' | 'seats'>,
  batching: Batching,
): (role: Role) => PromptPlayer {
  const players = seats?.players(batching);
  const learner = { name: LEARNER, policy: enginePolicy(engine, renderer, batching) };
  return (role) => (players?.get(seats!.playerOf(role)) as PromptPlayer | undefined) ?? learner;
}

const pairOf = (role: Role, player: Player | undefined): (readonly [Role, Player])[] =>
  player ? [[role, player]] : [];

/** Lockstep gives the same batches in every run, which is of no use to an engine that gives other bits for the same. */
function batchingOf({ config, engine }: Pick<Learner, 'config' | 'engine'>): Batching {
  const { batching } = config.rollout;
  const isLockstep = batching === 'auto' ? engine.capabilities.deterministic : batching === 'lockstep';
  return isLockstep && isSynchronous(config) ? new Lockstep() : continuous;
}
