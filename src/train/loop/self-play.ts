/** Self-play in a small two-player game: how exploitable the present strategy is, and the average of all so far. */

import { TurnwiseError } from '../../core/errors.ts';
import { sharedRows } from '../../engine/token-batch.ts';
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
import { continued, type History } from '../../model/chat/renderer.ts';
import type { Learner } from '../kit/learner.ts';
import type { Metrics } from './events.ts';

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

const UNMEASURABLE: readonly string[] = ['game-not-zero-sum', 'game-not-enumerable'];

/**
 * Measure the published policy in the game and add it to the average with `weight`. In zero-sum games it is the average
 * that converges to an equilibrium; the last strategy may circle it. Later steps weigh more, since early ones are poor.
 */
export async function measureSelfPlay(
  learner: Learner,
  tree: GameTree,
  before: AverageStrategy | null,
  weight: number,
): Promise<SelfPlay> {
  const last = await strategyOf(learner, tree);
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

/** The policy's probability of each legal action at each information set, by scoring the action's tokens. */
async function strategyOf(learner: Learner, tree: GameTree): Promise<Strategy> {
  const questions = tree.informationSets.flatMap((set) =>
    set.actions.map((action) => ({ set, action, ...tokensOf(learner, set, action) })),
  );
  const { logprobs } = await learner.engine.score(
    { rows: sharedRows(questions.map(({ ids }) => Int32Array.from(ids))) },
    { temperature: 1 },
  );
  const strategy: Record<string, Record<string, number>> = {};
  for (const [index, { set, action, answerLength }] of questions.entries()) {
    const ofAnswer = logprobs[index]!.slice(-answerLength);
    strategy[set.key] ??= {};
    strategy[set.key]![action] = Math.exp(ofAnswer.reduce((sum, logprob) => sum + logprob, 0));
  }
  return strategy;
}

/** The conversation as the policy would have seen it, and the action as it would have written it. */
function tokensOf(
  { renderer, context, world }: Learner,
  set: InformationSet,
  action: string,
): { readonly ids: readonly number[]; readonly answerLength: number } {
  let past: History = { ids: [], messages: [] };
  for (const turn of set.past) {
    const text = world.protocol.format(turn.action);
    const prompt = context.next(past, turn.messages, renderer);
    const completion = { ids: renderer.completionIds(text), text };
    past = continued(prompt, [...past.messages, ...turn.messages], completion);
  }
  const last = renderer.completionIds(world.protocol.format(action));
  return {
    ids: [...context.next(past, set.messages, renderer).promptIds, ...last],
    answerLength: last.length,
  };
}
