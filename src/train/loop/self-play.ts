/** Self-play in a small two-player game: how exploitable the present strategy is, and the average of all so far. */

import { type AllowedIds, allowedAt } from '../../core/choices.ts';
import type { Role } from '../../core/episode.ts';
import type { ErrorCode } from '../../core/error-codes/error-codes.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json/json.ts';
import type { Message } from '../../core/messages.ts';
import { Rng } from '../../core/rng.ts';
import { scoredRows } from '../../engine/token-batch.ts';
import type { World } from '../../env/world.ts';
import {
  averageStrategy,
  exploitability,
  type GameTree,
  gameTree,
  gameValue,
  type InformationSet,
  type Strategy,
} from '../../eval/exploitability.ts';
import {
  gamePositions,
  type PositionGraph,
  positionExploitability,
  positionValue,
} from '../../eval/positions.ts';
import { choiceIds } from '../../policy/choices.ts';
import { Boundary, EpisodeEnd } from '../../rollout/boundary.ts';
import { nextActUnasked } from '../../rollout/context/next-act.ts';
import { newThread, promptIdsOf, type Setting, type Thread, withCall } from '../../rollout/context/thread.ts';
import { type Learner, learnersOf } from '../kit/learner.ts';
import type { Metrics } from './events.ts';
import type { OwnProbe } from './probe.ts';

/** Strategies so far, averaged; plain JSON for the checkpoint. */
export interface AverageStrategy {
  readonly strategy: Strategy;
  readonly weight: number;
}

export interface SelfPlay {
  readonly metrics: Metrics;
  readonly average: AverageStrategy;
}

/** The game's whole tree, where the world is a small two-player game of which one wins what the other loses. */
export function treeOf(world: World): GameTree | undefined {
  if (!world.game || world.roles.length !== 2) return undefined;
  try {
    return gameTree(world.game);
  } catch (error) {
    // Such a game can be learned; only exploitability is not defined for it, or cannot be computed.
    if (TurnwiseError.isInstance(error) && UNMEASURABLE.includes(error.code)) return undefined;
    throw error;
  }
}

/** More positions than this are not asked about. */
const MOST_ASKED = 6000;

/** All positions of a game in which nothing is hidden, where the policy reads the present one alone. */
function positionsOf({ world, config }: Pick<Learner, 'world' | 'config'>): PositionGraph | undefined {
  if (!world.game || world.roles.length !== 2 || config.context.name !== 'latest') return undefined;
  try {
    const graph = gamePositions(world.game, 'test', MOST_ASKED);
    // Rules that are told once are part of what a policy reads, and of no position.
    const told = graph.informationSets.some(({ messages }) => messages.some(({ role }) => role === 'system'));
    return told ? undefined : graph;
  } catch (error) {
    if (TurnwiseError.isInstance(error) && UNMEASURABLE.includes(error.code)) return undefined;
    throw error;
  }
}

/** Measures every step of a run that plays such a game; none where there is nothing to measure. */
export function selfPlayProbe(learner: Learner): readonly OwnProbe[] {
  // The tree knows nothing of names.
  if (learner.config.rollout.exchangeEvery > 0) return [];
  const tree = treeOf(learner.world);
  if (!tree) return positionProbe(learner);
  return [
    {
      name: 'self-play',
      run: async (_, { step, state }) => {
        const before = state as unknown as AverageStrategy | null;
        const measured = await measureSelfPlay(learner, tree, before, step);
        return measured
          ? { metrics: measured.metrics, state: measured.average as unknown as JsonObject }
          : {};
      },
    },
  ];
}

/** Thousands of positions are asked about, so it looks when evaluations are due. There is no average: whoever reads positions recalls no past. */
function positionProbe(learner: Learner): readonly OwnProbe[] {
  const graph = positionsOf(learner);
  if (!graph) return [];
  return [
    {
      name: 'self-play',
      every: learner.config.evaluation.every,
      run: async () => {
        const strategy = await strategyOf(learner, graph);
        if (strategy === undefined) return {};
        return {
          metrics: {
            'game/value': positionValue(graph, strategy),
            'game/exploitability_last': positionExploitability(graph, strategy),
          },
        };
      },
    },
  ];
}

const UNMEASURABLE: readonly ErrorCode[] = ['game-not-zero-sum', 'game-not-enumerable', 'imperfect-recall'];

/**
 * Measure the published policy in the game and add it to the average with `weight`. In zero-sum games it is the average
 * that converges to an equilibrium; the last strategy may circle it. Later steps weigh more, since early ones are poor.
 * Undefined where the context asks for more than acts: then a probability depends on what it would be given.
 */
export async function measureSelfPlay(
  learner: Learner,
  tree: GameTree,
  before: AverageStrategy | null,
  weight: number,
): Promise<SelfPlay | undefined> {
  const last = await strategyOf(learner, tree);
  if (last === undefined) return undefined;
  const average: AverageStrategy = before
    ? {
        strategy: averageStrategy(tree, [before.strategy, last], [before.weight, weight]),
        weight: before.weight + weight,
      }
    : { strategy: last, weight };
  return {
    average,
    metrics: {
      'game/value': gameValue(tree, last),
      'game/exploitability_last': exploitability(tree, last),
      'game/exploitability_average': exploitability(tree, average.strategy),
    },
  };
}

/** An action in an information set: the prompt with the tokens that write it, and how many these are. */
interface Question {
  readonly set: InformationSet;
  readonly action: string;
  readonly ids_T: Int32Array;
  readonly allowed_T?: AllowedIds;
  readonly length: number;
}

/** The policy's probability of each legal action at each information set, by scoring the action's tokens. */
async function strategyOf(
  learner: Learner,
  tree: Pick<GameTree, 'informationSets'>,
): Promise<Strategy | undefined> {
  const { renderer, world, config } = learner;
  const boundary = new Boundary(new AbortController().signal, learner.watch);
  const questions: Question[] = [];
  const strategy: Record<string, Record<string, number>> = {};
  try {
    for (const set of tree.informationSets) {
      const prompt = await promptAt(learner, set, boundary);
      if (prompt === undefined) return undefined;
      const texts = set.actions.map((action) => world.protocol.format(action));
      const choices = config.rollout.choices ? choiceIds(texts, renderer) : undefined;
      for (const [index, action] of set.actions.entries()) {
        const answer = renderer.completionIds(texts[index]!);
        // With words that the model does not know an action is never chosen.
        if (choices && renderer.text(answer) !== texts[index]) {
          strategy[set.key] = { ...strategy[set.key], [action]: 0 };
          continue;
        }
        questions.push({
          set,
          action,
          ids_T: Int32Array.from([...prompt, ...answer]),
          ...(choices && {
            allowed_T: [...new Array<null>(prompt.length).fill(null), ...allowedAt(choices, answer)],
          }),
          length: answer.length,
        });
      }
    }
  } finally {
    boundary.close();
  }
  for (const each of learnersOf(learner)) {
    const asked = questions.filter(({ set }) => playerIn(learner, set.role) === each);
    if (asked.length === 0) continue;
    const { logprobs } = await each.engine.score(scoredRows(asked), { temperature: 1 });
    for (const [index, { set, action, length }] of asked.entries()) {
      const ofAnswer = logprobs[index]!.slice(-length);
      strategy[set.key] ??= {};
      strategy[set.key]![action] = Math.exp(ofAnswer.reduce((sum, logprob) => sum + logprob, 0));
    }
  }
  return strategy;
}

/** The learner in a role; where another player sits there, the first one, as it would play. */
function playerIn(learner: Learner, role: Role): Learner {
  return learner.others.find(({ player }) => player === learner.seats?.playerOf(role)) ?? learner;
}

/** The prompt as the policy would have seen it; undefined where its context asks for something, or fails. */
async function promptAt(
  { renderer, context, world, engine, config }: Learner,
  set: InformationSet,
  boundary: Boundary,
): Promise<Int32Array | undefined> {
  const setting: Setting = {
    context,
    renderer,
    role: set.role,
    task: null,
    contextLength: engine.capabilities.contextLength,
    limit: world.maxTurns,
    rng: (calls) => Rng.of('context', config.seed, set.key, calls),
  };
  const guard = { boundary, timeoutMs: config.rollout.turnTimeoutMs, place: set.key };
  const next = (thread: Thread, fresh: readonly Message[]) => nextActUnasked(thread, fresh, setting, guard);
  try {
    let thread = newThread(context);
    for (const [id, { messages, action }] of set.past.entries()) {
      const { thread: before, rendered } = await next(thread, messages);
      const text = world.protocol.format(action);
      const ids = Int32Array.from(renderer.completionIds(text));
      thread = withCall(before, rendered.prompt, {
        id,
        conversation: set.role,
        role: set.role,
        by: { kind: 'policy', name: 'learner', version: engine.version },
        purpose: 'act',
        sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: renderer.maxTurnTokens },
        context: rendered.prompt.context,
        ids,
        logprobs: new Float32Array(ids.length),
        messages,
        text,
        finish: 'none',
        trainable: 'left-out',
        at: 0,
        waitMs: 0,
        policyMs: 0,
      });
      thread = { ...thread, turns: id + 1 };
    }
    return promptIdsOf((await next(thread, set.messages)).rendered);
  } catch (error) {
    if (error instanceof EpisodeEnd || TurnwiseError.isInstance(error)) return undefined;
    throw error;
  }
}
