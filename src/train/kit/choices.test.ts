/** Acts restricted to the legal ones: what is played, recorded and trained. */

import { expect, test } from 'vitest';
import { z } from 'zod';
import { allowedAt, isForced } from '../../core/choices.ts';
import type { Episode } from '../../core/episode.ts';
import type { Json } from '../../core/json/json.ts';
import { user } from '../../core/messages.ts';
import { chosenMask, samplesOf } from '../../core/sample.ts';
import { madeGroup } from '../../core/testing/made-episodes.ts';
import { roleGroups } from '../../core/trajectory.ts';
import { delegateTo } from '../../engine/delegate.ts';
import { createEmbeddedEngine, type EmbeddedEngine } from '../../engine/embedded/embedded-engine.ts';
import type { TokenBatch } from '../../engine/engine.ts';
import { scoredRows } from '../../engine/token-batch.ts';
import { defineEnvironment, type Environment } from '../../env/environment.ts';
import { fromEnvironment } from '../../env/from-environment.ts';
import { tagProtocol } from '../../env/tag-protocol.ts';
import { wordRenderer } from '../../model/chat/renderer.ts';
import { WordTokenizer } from '../../model/tokenizer/word-tokenizer.ts';
import { continuous } from '../../policy/batching.ts';
import { enginePolicy } from '../../policy/engine-policy.ts';
import { fullContext } from '../../rollout/context/contexts.ts';
import { defineContext } from '../../rollout/context/strategy.ts';
import { type EpisodeOptions, runEpisode } from '../../rollout/episode.ts';
import { unwatched } from '../../rollout/watch.ts';
import type { TrainSettings } from '../config/config.ts';
import { learnerOn, learnOnce } from '../learner-on.test-helper.ts';

const ACTIONS = ['go', 'go left', 'go left slowly', 'wait here'];
const tokenizer = WordTokenizer.fromTexts(['at 0 1 2 3 plan', ...ACTIONS]);
const renderer = wordRenderer(tokenizer, 3);

type Walk = Environment<Json, { at: number }>;
const walk = (parts: Partial<Walk> = {}): Walk =>
  defineEnvironment<Json, { at: number }>({
    name: 'walk',
    description: 'three steps',
    maxTurns: 3,
    tasks: () => ({ size: 1, at: () => null }),
    start: () => ({ state: { at: 0 }, messages: [user('at 0')] }),
    step: ({ at }, action) => ({
      state: { at: at + 1 },
      observation: `at ${at + 1}`,
      reward: action === 'go left' ? 1 : 0,
      done: at === 2,
      valid: ACTIONS.includes(action),
    }),
    actions: () => ACTIONS,
    ...parts,
  });

async function engineFor(): Promise<EmbeddedEngine> {
  return createEmbeddedEngine({
    shape: {
      ...{ vocabulary: tokenizer.size, width: 16, layers: 2, heads: 4, keyValueHeads: 2, headWidth: 4 },
      ...{ hidden: 24, activation: 'swiglu', tiedHead: false, ropeTheta: 10_000, contextLength: 64 },
      normEpsilon: 1e-5,
    },
    seed: 3,
    threads: 1,
    tokenBudget: 64,
    inProcess: true,
  });
}

const play = (engine: EmbeddedEngine, member: number, more: Partial<EpisodeOptions> = {}): Promise<Episode> =>
  runEpisode(
    {
      key: { step: 1, environment: 'walk', split: 'train', task: 0, group: 0, member },
      task: null,
    },
    {
      world: fromEnvironment(walk()),
      policy: enginePolicy(engine, renderer, continuous),
      renderer,
      context: fullContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      choices: true,
      maxTurns: 3,
      contextLength: 64,
      turnTimeoutMs: 1000,
      seed: 1,
      signal: new AbortController().signal,
      watch: unwatched,
      ...more,
    },
  );

const restricted = ({ calls }: Episode): boolean[] => calls.map(({ choices }) => choices !== undefined);

test('every act is a legal one, and its record says among which it was chosen', async () => {
  const engine = await engineFor();
  const { calls, transitions } = await play(engine, 0);
  expect(transitions.map(({ valid }) => valid)).toEqual([true, true, true]);
  for (const { ids, choices, finish, logprobs } of calls) {
    expect(choices!.map((choice) => renderer.text(choice))).toEqual(ACTIONS);
    expect(finish).toBe('stop');
    const forced = allowedAt(choices!, ids).map(isForced);
    expect([...logprobs].map((logprob) => logprob === 0)).toEqual(forced);
  }
  await engine.close();
});

test('acts are free where nobody asks, nothing is listed, thoughts come first, or words are not known', async () => {
  const engine = await engineFor();
  const free = [false, false, false];
  expect(restricted(await play(engine, 1, { choices: false }))).toEqual(free);
  const { actions: _, ...unlisted } = walk();
  expect(restricted(await play(engine, 2, { world: fromEnvironment(unlisted) }))).toEqual(free);
  const thinking = fromEnvironment(walk(), { protocol: tagProtocol });
  expect(restricted(await play(engine, 3, { world: thinking }))).toEqual(free);
  const strange = fromEnvironment(walk({ actions: () => ['fly', 'swim'] }));
  expect(restricted(await play(engine, 4, { world: strange }))).toEqual(free);
  const many = fromEnvironment(walk({ actions: () => Array.from({ length: 257 }, (_, k) => `go ${k}`) }));
  expect(restricted(await play(engine, 5, { world: many }))).toEqual(free);
  await engine.close();
});

test('what a context asks for is never restricted', async () => {
  const engine = await engineFor();
  const planning = defineContext({
    name: 'planning',
    summary: 'a plan before each act',
    options: z.strictObject({}),
    start: () => null,
    window: async ({ fresh, state }, ask) => {
      const plan = await ask('plan', { parts: [user('plan')] });
      return { conversation: { parts: [...fresh, { call: plan.id }, user('at')] }, state };
    },
  });
  const { calls } = await play(engine, 0, { context: planning.create() });
  for (const { purpose, choices } of calls) expect(choices !== undefined).toBe(purpose === 'act');
  expect(new Set(calls.map(({ purpose }) => purpose))).toEqual(new Set(['plan', 'act']));
  await engine.close();
});

test('an act that might not fit ends the episode instead of being cut', async () => {
  const engine = await engineFor();
  const { stop, calls } = await play(engine, 0, { contextLength: 6 });
  expect([stop, calls.length]).toEqual(['context-overflow', 0]);
  await engine.close();
});

test('samples know what their tokens were chosen among, and scoring them gives what the sampler wrote down', async () => {
  const engine = await engineFor();
  const [sample] = samplesOf(madeGroup(await play(engine, 0)), 'learner');
  const { mask_T, allowed_T, logprobs_T } = sample!;
  expect(allowed_T!.map((allowed) => allowed !== null)).toEqual([...mask_T].map((bit) => bit === 1));
  const { logprobs } = await engine.score(scoredRows([sample!]), { temperature: 1 });
  for (const [t, bit] of mask_T.entries())
    if (bit === 1) expect(Math.abs(logprobs[0]![t]! - logprobs_T[t]!)).toBeLessThan(1e-4);
  await engine.close();
});

/** One update on four restricted episodes, with what the engine was given to learn. */
async function learn(recipe: string, settings: TrainSettings = {}) {
  const engine = await engineFor();
  const episodes = await Promise.all([0, 1, 2, 3].map((member) => play(engine, member)));
  const learned: TokenBatch[] = [];
  const watched = delegateTo(engine, {
    forwardBackward: (batch, objective, options) => {
      learned.push(batch);
      return engine.forwardBackward(batch, objective, options);
    },
  });
  await engine.freeze();
  const learner = learnerOn(watched, recipe, { optimizer: { minibatches: 1 }, ...settings });
  const { metrics } = await learnOnce(learner, roleGroups([madeGroup(...episodes)]));
  await engine.close();
  return { episodes, metrics, targets: learned[0]!.targets, rows: learned[0]!.rows };
}

test('trained tokens are those that were chosen: forced ones have no weight, the others share it', async () => {
  const { episodes, targets, metrics } = await learn('rloo', { objective: { klCoefficient: 0.1 } });
  const chosen = episodes
    .flatMap((episode) => samplesOf(madeGroup(episode), 'learner'))
    .reduce((sum, sample) => sum + chosenMask(sample).reduce((count, bit) => count + bit, 0), 0);
  const weights = [...targets.channels.weight!];
  for (const [target, allowed] of targets.allowed_N!.entries())
    expect(weights[target]! > 0).toBe(!isForced(allowed));
  expect(weights.filter((weight) => weight > 0)).toHaveLength(chosen);
  expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 5);
  // Nothing has changed since the episodes were sampled and the reference was kept.
  expect(metrics['policy/kl_sample_train']).toBeLessThan(1e-8);
  expect(Math.abs(metrics['policy/kl'] ?? metrics['policy/kl_reference'] ?? 0)).toBeLessThan(1e-6);
});

test.each(['tis', 'dpo', 'gspo'])('the recipe %s learns from restricted episodes', async (recipe) => {
  const { targets, metrics } = await learn(recipe);
  expect(targets.allowed_N!.some((allowed) => allowed !== null)).toBe(true);
  expect(Number.isFinite(metrics['policy/loss'])).toBe(true);
});
