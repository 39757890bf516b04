/** What driving episodes costs when the policy is free: episodes per second, overhead per turn, and tokens handled for prompts. */

import { world as maze } from '../envs/maze/index.ts';
import { Lockstep } from '../src/policy/lockstep.ts';
import type { Policy } from '../src/policy/policy.ts';
import { collectGroups } from '../src/rollout/collect.ts';
import { fullContext } from '../src/rollout/context/contexts.ts';
import { unwatched } from '../src/rollout/watch.ts';
import { benchPromptTokens, type PromptTokens } from './prompt-tokens.ts';

export interface RolloutFigure {
  readonly concurrency: number;
  readonly episodesPerSecond: number;
  /** Of the rollout and the environment, per turn, all episodes together. */
  readonly microsecondsPerTurn: number;
}

const TURNS = 40;
const EPISODES = 4096;

const author = { kind: 'policy', name: 'wall', version: 0 } as const;

/** Tokens that the policy was handed. */
let given = 0;

/** A policy that answers at once, so that everything measured is overhead: it bumps into a wall at every turn. */
const wall: Policy = {
  author,
  complete: async ({ append }) => {
    given += append.length;
    return {
      ids: Int32Array.of(1),
      logprobs: Float32Array.of(0),
      text: 'up',
      finish: 'length',
      by: author,
      trainable: true,
    };
  },
};

const SEVEN_WORDS = [1, 2, 3, 4, 5, 6, 7];

export interface RolloutBench {
  readonly maze40: readonly RolloutFigure[];
  readonly prompts: readonly PromptTokens[];
}

/** Episodes of the maze, all of one task; gives the turns that were taken. */
async function play(episodes: number, maxTurns: number, concurrency: number): Promise<number> {
  const world = maze.create(maze.options.parse({ maxTurns }));
  const request = {
    step: 1,
    group: 0,
    split: 'train',
    index: 0,
    task: world.tasks('train').at(0),
    members: episodes,
  } as const;
  const groups = await collectGroups([request], {
    world,
    policy: wall,
    renderer: {
      stopIds: [],
      maxTurnTokens: 1,
      pieces: (said) => said,
      more: (_completion, fresh) => fresh,
      ids: (piece) => (typeof piece !== 'string' && 'ids' in piece ? piece.ids : SEVEN_WORDS),
      completionIds: () => [1],
      text: () => 'up',
      answer: (text) => text,
      read: (text) => ({ content: text, toolCalls: [] }),
    },
    context: fullContext,
    sampling: { temperature: 1, topP: 1, topK: 0 },
    maxTurns,
    contextLength: Number.POSITIVE_INFINITY,
    turnTimeoutMs: 10_000,
    seed: 1,
    signal: new AbortController().signal,
    watch: unwatched,
    batching: new Lockstep(),
    concurrency,
  });
  return groups.flatMap(({ members }) => members).reduce((sum, member) => sum + member.transitions.length, 0);
}

async function overhead(concurrency: number): Promise<RolloutFigure> {
  const started = performance.now();
  const turns = await play(EPISODES, TURNS, concurrency);
  const elapsedMs = performance.now() - started;
  return {
    concurrency,
    episodesPerSecond: (1000 * EPISODES) / elapsedMs,
    microsecondsPerTurn: (1000 * elapsedMs) / turns,
  };
}

export async function benchRollout(): Promise<RolloutBench> {
  const prompts = await benchPromptTokens(async (turns) => {
    given = 0;
    const taken = await play(1, turns, 1);
    if (taken !== turns) throw new Error(`${taken} turns were played, and ${turns} were asked for`);
    return given;
  });
  await overhead(64);
  const maze40: RolloutFigure[] = [];
  for (const concurrency of [1, 64, 4096]) maze40.push(await overhead(concurrency));
  return { maze40, prompts };
}
