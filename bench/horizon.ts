/** Whether a long episode stays cheap: 600 turns of errands in 2,048 tokens, what each turn takes and what the process weighs. */

import { world as errands } from '../envs/errands/index.ts';
import { madeKey } from '../src/core/testing/made-episodes.ts';
import { createEmbeddedEngine } from '../src/engine/embedded/embedded-engine.ts';
import { wordRenderer } from '../src/model/chat/renderer.ts';
import { continuous } from '../src/policy/batching.ts';
import { enginePolicy } from '../src/policy/engine-policy.ts';
import type { Policy } from '../src/policy/policy.ts';
import { contextRegistry } from '../src/rollout/context/contexts.ts';
import { runEpisode } from '../src/rollout/episode.ts';
import { unwatched } from '../src/rollout/watch.ts';
import { demonstrate, learnVocabulary } from '../src/synth/demonstrations.ts';

const TURNS = 600;
const TOKENS = 2048;
/** Turns that are averaged: each number is a mean over so many. */
const SPAN = 50;

const CONTEXTS: Readonly<Record<string, object>> = {
  'last-turns': { turns: 10_000 },
  summary: { threshold: TOKENS - 64, summaries: 1000, instruction: 'note' },
  state: { instruction: 'note', act: 'now', note: false },
  'task-graph': { instruction: 'note', act: 'now' },
  // All turns, with room for them: what the others save.
  full: {},
};

export interface HorizonFigure {
  readonly turns: number;
  /** Longest prompt, in tokens. */
  readonly longest: number;
  /** Milliseconds a turn, what its context asked for included: means of turns 50 to 99, 100 to 149 and so on. */
  readonly millisecondsATurn: readonly number[];
  /** Resident megabytes of the process: means of the same turns. */
  readonly megabytes: readonly number[];
  /** Late over early: turns 350 to 599 over turns 50 to 299. */
  readonly slowdown: number;
  /** Of turns 550 to 599, less that of turns 50 to 99. */
  readonly growthMegabytes: number;
}

/** @param names of contexts; default: all */
export async function benchHorizon(
  names: readonly string[],
): Promise<Readonly<Record<string, HorizonFigure>>> {
  const figures: Record<string, HorizonFigure> = {};
  for (const name of names.length > 0 ? names : Object.keys(CONTEXTS)) figures[name] = await measured(name);
  return figures;
}

async function measured(name: string): Promise<HorizonFigure> {
  const world = errands.create(errands.options.parse({ turns: TURNS, orders: 8, changes: 8 }));
  const context = contextRegistry.find(name).create(CONTEXTS[name]);
  const { signal } = new AbortController();
  const demonstrations = await demonstrate(world, {
    ...{
      demonstrations: 2,
      beginnerShare: 0,
      randomRate: 0,
      seed: 1,
      maxTurns: TURNS,
      turnTimeoutMs: 60_000,
    },
    ...{ context, signal, watch: unwatched },
  });
  const { tokenizer, maxActionWords } = learnVocabulary(demonstrations);
  const renderer = wordRenderer(tokenizer, maxActionWords);
  const contextLength = name === 'full' ? 16_384 : TOKENS;
  const engine = await createEmbeddedEngine({
    shape: {
      vocabulary: tokenizer.words.length,
      ...{ width: 64, layers: 2, heads: 4, keyValueHeads: 4, headWidth: 16, hidden: 172 },
      ...{ activation: 'swiglu', tiedHead: false, ropeTheta: 10_000, contextLength, normEpsilon: 1e-5 },
    },
    ...{ seed: 'horizon', threads: 1, tokenBudget: 4096 },
  });
  const sampled = enginePolicy(engine, renderer, continuous);
  const begun: number[] = [];
  const resident: number[] = [];
  let longest = 0;
  const policy: Policy = {
    author: sampled.author,
    complete: async (request) => {
      longest = Math.max(longest, request.keep + request.append.length);
      const completion = await sampled.complete(request);
      // Restricted completions are acts.
      if (request.choices !== undefined) {
        begun.push(performance.now());
        resident.push(process.memoryUsage.rss() / 2 ** 20);
      }
      return completion;
    },
    release: (conversation) => sampled.release?.(conversation),
  };
  try {
    const episode = await runEpisode(
      { key: madeKey({ environment: world.name }), task: world.tasks('train').at(0) },
      {
        ...{ world, policy, renderer, context, contextLength, maxTurns: TURNS, seed: 1, choices: true },
        sampling: { temperature: 1, topP: 1, topK: 0 },
        ...{ turnTimeoutMs: 600_000, signal, watch: unwatched },
      },
    );
    if (episode.transitions.length < TURNS) {
      throw new Error(
        `${name} ended after ${episode.transitions.length} turns: ${episode.failure ?? episode.stop}`,
      );
    }
  } finally {
    await engine.close();
  }
  const spans = Array.from({ length: TURNS / SPAN - 1 }, (_, index) => (index + 1) * SPAN);
  const took = (from: number, to: number): number => (begun[to - 1]! - begun[from - 1]!) / (to - from);
  const megabytes = spans.map((from) => mean(resident.slice(from, from + SPAN)));
  return {
    turns: begun.length,
    longest,
    millisecondsATurn: spans.map((from) => Math.round(100 * took(from, from + SPAN)) / 100),
    megabytes: megabytes.map(Math.round),
    slowdown: Math.round((100 * took(350, 600)) / took(50, 300)) / 100,
    growthMegabytes: Math.round(megabytes.at(-1)! - megabytes[0]!),
  };
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
