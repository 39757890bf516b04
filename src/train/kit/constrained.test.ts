/** Acts held to the schemas of an environment's tools: what is played and recorded, and that it is not trained on. */

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { Episode } from '../../core/episode.ts';
import type { Json } from '../../core/json/json.ts';
import { user } from '../../core/messages.ts';
import { samplesOf } from '../../core/sample.ts';
import { createEmbeddedEngine, type EmbeddedEngine } from '../../engine/embedded/embedded-engine.ts';
import { defineEnvironment } from '../../env/environment.ts';
import { fromEnvironment } from '../../env/from-environment.ts';
import { defineTool } from '../../env/tool.ts';
import { toolProtocol } from '../../env/tool-protocol.ts';
import { chatRenderer } from '../../model/chat/chat-renderer.ts';
import type { Renderer } from '../../model/chat/renderer.ts';
import { openCheckpoint } from '../../model/checkpoint/checkpoint.ts';
import { parityFolder } from '../../model/testing/parity-data.ts';
import { loadPretrainedLanguage } from '../../model/tokenizer/pretrained-language.ts';
import { continuous } from '../../policy/batching.ts';
import { enginePolicy } from '../../policy/engine-policy.ts';
import { fullContext } from '../../rollout/context/contexts.ts';
import { type EpisodeOptions, runEpisode } from '../../rollout/episode.ts';
import { unwatched } from '../../rollout/watch.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-constrained-acts-'));
let engine: EmbeddedEngine;
let renderer: Renderer;
beforeAll(async () => {
  cpSync(parityFolder('qwen3/bf16'), folder, { recursive: true });
  for (const file of ['tokenizer.json', 'tokenizer_config.json'])
    cpSync(join(parityFolder('tokenizer-qwen'), file), join(folder, file));
  const model = await openCheckpoint(folder);
  engine = await createEmbeddedEngine({
    ...{ model, lora: { rank: 1 }, seed: 0, threads: 1, tokenBudget: 512, inProcess: true },
  });
  renderer = chatRenderer(await loadPretrainedLanguage(folder, model.shape.vocabulary), {
    maxTurnTokens: 100,
    translateToolCalls: true,
  });
}, 60_000);
afterAll(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

const paint = defineTool({
  name: 'paint',
  description: 'Paint it.',
  parameters: z.object({ colour: z.enum(['red', 'blue']), coats: z.int().min(1).max(3) }),
  run: () => '',
});
const house = defineEnvironment<Json, { at: number }>({
  name: 'house',
  description: 'three coats',
  maxTurns: 3,
  tasks: () => ({ size: 1, at: () => null }),
  start: () => ({ state: { at: 0 }, messages: [user('at 0')] }),
  step: ({ at }, action) => ({
    state: { at: at + 1 },
    observation: `at ${at + 1}`,
    reward: 0,
    done: at === 2,
    valid: action.includes('paint'),
  }),
});

const play = (member: number, more: Partial<EpisodeOptions> = {}): Promise<Episode> =>
  runEpisode(
    {
      key: { step: 1, environment: 'house', split: 'test', task: 0, group: 0, member },
      task: null,
    },
    {
      world: fromEnvironment(house, { protocol: toolProtocol([paint]) }),
      policy: enginePolicy(engine, renderer, continuous),
      renderer,
      context: fullContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: 3,
      contextLength: engine.capabilities.contextLength,
      turnTimeoutMs: 1000,
      seed: 1,
      signal: new AbortController().signal,
      watch: unwatched,
      ...more,
    },
  );

test('each act is a valid call, recorded as constrained, and none of it is trained on', async () => {
  const episode = await play(0, { constrained: true });
  expect(episode.transitions.map(({ valid }) => valid)).toEqual([true, true, true]);
  expect(episode.calls.map(({ trainable, finish }) => [trainable, finish])).toEqual(
    Array(3).fill(['constrained', 'stop']),
  );
  for (const { action } of episode.transitions) {
    const { name, arguments: given } = JSON.parse(action);
    expect([name, paint.parameters.safeParse(given).success]).toEqual(['paint', true]);
  }
  // The sampler goes on from what it sampled.
  expect(episode.calls.slice(1).every(({ parent }, index) => parent === index)).toBe(true);
  expect(samplesOf({ step: 1, group: 0, members: [episode] }, 'learner')).toEqual([]);
});

test('acts are free where nobody asks, and where actions are no calls', async () => {
  const free = await play(1);
  expect(free.calls.every(({ trainable }) => trainable === true)).toBe(true);
  const words = await play(2, { constrained: true, world: fromEnvironment(house) });
  expect(words.calls.every(({ trainable }) => trainable === true)).toBe(true);
});
