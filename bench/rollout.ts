/** What driving episodes costs when the policy is free: episodes per second, and overhead per turn. */

import { world as maze } from '../envs/maze/index.ts';
import { Lockstep } from '../src/policy/lockstep.ts';
import type { Policy } from '../src/policy/policy.ts';
import { collectGroups } from '../src/rollout/collect.ts';
import { fullContext } from '../src/rollout/context/contexts.ts';
import { unwatched } from '../src/rollout/watch.ts';

export interface RolloutFigure {
  readonly concurrency: number;
  readonly episodesPerSecond: number;
  /** Of the rollout and the environment, per turn, all episodes together. */
  readonly microsecondsPerTurn: number;
}

const TURNS = 40;
const EPISODES = 4096;

const author = { kind: 'policy', name: 'wall', version: 0 } as const;

/** A policy that answers at once, so that everything measured is overhead: it bumps into a wall for 40 turns. */
const wall: Policy = {
  author,
  complete: async () => ({
    ids: Int32Array.of(1),
    logprobs: Float32Array.of(0),
    text: 'up',
    finish: 'length',
    by: author,
    trainable: true,
  }),
};

const SEVEN_WORDS = [1, 2, 3, 4, 5, 6, 7];

export async function benchRollout(): Promise<RolloutFigure[]> {
  const world = maze.create(maze.options.parse({ maxTurns: TURNS }));
  const tasks = world.tasks('train');
  const run = async (concurrency: number): Promise<RolloutFigure> => {
    const started = performance.now();
    const request = {
      step: 1,
      group: 0,
      split: 'train',
      index: 0,
      task: tasks.at(0),
      members: EPISODES,
    } as const;
    const groups = await collectGroups([request], {
      world,
      policy: wall,
      renderer: {
        stopIds: [],
        maxTurnTokens: 1,
        pieces: (said) => said,
        ids: (piece) => (typeof piece !== 'string' && 'ids' in piece ? piece.ids : SEVEN_WORDS),
        completionIds: () => [1],
        text: () => 'up',
        answer: (text) => text,
        read: (text) => ({ content: text, toolCalls: [] }),
      },
      context: fullContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: TURNS,
      contextLength: Number.POSITIVE_INFINITY,
      turnTimeoutMs: 10_000,
      seed: 1,
      signal: new AbortController().signal,
      watch: unwatched,
      batching: new Lockstep(),
      concurrency,
    });
    const elapsedMs = performance.now() - started;
    const turns = groups
      .flatMap(({ members }) => members)
      .reduce((sum, member) => sum + member.transitions.length, 0);
    return {
      concurrency,
      episodesPerSecond: (1000 * EPISODES) / elapsedMs,
      microsecondsPerTurn: (1000 * elapsedMs) / turns,
    };
  };
  await run(64);
  const figures: RolloutFigure[] = [];
  for (const concurrency of [1, 64, 4096]) figures.push(await run(concurrency));
  return figures;
}
