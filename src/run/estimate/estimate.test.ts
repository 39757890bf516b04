/** Estimates: memory from shapes, evaluations that take a tenth, and an engine that is as it was before it was timed. */

import { expect, test } from 'vitest';
import { createEmbeddedEngine } from '../../engine/embedded/embedded-engine.ts';
import { tiny } from '../../engine/embedded/testing/tiny-engine.ts';
import { trainConfigSchema } from '../../train/config/config.ts';
import { episodeSeconds, evaluationSizes, stepSeconds } from './estimate.ts';
import { memoryOf, memoryWarning, requireMemory } from './memory.ts';
import { timeEngine } from './timing.ts';

const configOf = (settings: object) => trainConfigSchema.parse(settings);

/** As SmolLM2-135M. */
const small = {
  ...tiny,
  vocabulary: 49_152,
  width: 576,
  layers: 30,
  heads: 9,
  keyValueHeads: 3,
  headWidth: 64,
  hidden: 1536,
  tiedHead: true,
};

test('memory is that of weights, optimizer, activations and caches', () => {
  const config = configOf({ optimizer: { tokenBudget: 2048 }, rollout: { concurrency: 64 } });
  const lora = memoryOf(small, config, { rank: 16, targets: 'all' }, 200);
  const all = memoryOf(small, config, undefined, 200);
  expect(lora.weights).toBe(3 * 4 * 134_515_008);
  expect(lora.optimizer).toBe(3 * 4 * 4_884_480);
  expect(all.optimizer).toBe(3 * 4 * 134_515_008);
  // Keys and values of 64 conversations of 200 tokens: 2 × 30 layers × 3 heads × 64 floats a token.
  expect(lora.cache).toBe(4 * 2 * 30 * 3 * 64 * 200 * 64);
  const halved = memoryOf(small, configOf({ optimizer: { tokenBudget: 1024 } }), undefined, 200);
  // Half the tokens, each of which attends to half as many.
  expect(halved.activations / all.activations).toBeGreaterThan(0.25);
  expect(halved.activations / all.activations).toBeLessThan(0.35);
  // SmolLM2-135M on js-tasks, whose demonstrations share most of their prompt: 16.3 GB were seen while imitating.
  const tasks = memoryOf(small, config, { rank: 16, targets: 'all' }, 600);
  expect(tasks.total).toBeGreaterThan(14e9);
  expect(tasks.total).toBeLessThan(18e9);
});

test('a base that is fed to its sessions is in memory once, or it would not fit where it does', () => {
  const shape = {
    ...small,
    ...{ vocabulary: 151_936, width: 1024, layers: 28, heads: 16 },
    ...{ keyValueHeads: 8, headWidth: 128, hidden: 3072 },
  };
  const config = configOf({ optimizer: { tokenBudget: 512 }, rollout: { concurrency: 1 } });
  const { weights, total } = memoryOf(shape, config, { rank: 16 }, 512);
  expect(weights).toBeLessThan(2.7e9);
  // `npm run bench -- engine lora` has seen 5.8 GB, with a loss on every token.
  expect(total).toBeGreaterThan(4.5e9);
  expect(total).toBeLessThan(7e9);
});

test('a model that does not fit is refused, and a run that does not is told what to lower', () => {
  const config = configOf({ optimizer: { tokenBudget: 8192 }, rollout: { concurrency: 64 } });
  const memory = memoryOf(small, config, { rank: 16 }, 200);
  expect(() => requireMemory(memory, 1e9, './model.gguf')).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The model ./model.gguf does not fit into memory. Seen: 1.0 GB free. Allowed: 1.9 GB for its weights alone, which are held in 32 bits. Take a smaller model, close other programs, or train on a server with --engine tinker.]`,
  );
  expect(() => requireMemory(memory, 2e9, './model.gguf')).not.toThrow();
  expect(memoryWarning(memory, 2e9, config)).toMatchInlineSnapshot(
    `"this run needs about 158 GB of memory, and 2.0 GB are free: it may be stopped by the system. Lower it with --set optimizer.tokenBudget=2048"`,
  );
  expect(memoryWarning(memory, memory.total, config)).toBeUndefined();
});

test('evaluations take at most a tenth of the run, unless their sizes are set', () => {
  const seconds = { reading: 2, sampling: 8, learning: 20 };
  for (const steps of [40, 200, 2000]) {
    const config = configOf({
      steps,
      evaluation: { every: 10, tasks: 0, finalTasks: 0 },
      clone: { steps: 16 },
    });
    const { tasks, finalTasks } = evaluationSizes(config, seconds, 10 / 64, 20 / 64);
    const episodes = 2 * finalTasks + 2 * (2 * finalTasks + (steps / 10 - 1) * tasks);
    expect((episodes * 10) / 64 / (steps * 30)).toBeLessThanOrEqual(0.1);
    expect(tasks).toBeGreaterThan(8);
  }
  const set = configOf({ steps: 4, evaluation: { tasks: 300, finalTasks: 700 } });
  expect(evaluationSizes(set, seconds, 10 / 64, 20 / 64)).toEqual({ tasks: 300, finalTasks: 700 });
});

test('a step is as long as its parts, and what prompts begin with is read and learned from once', () => {
  const work = {
    episodes: 64,
    tasks: 8,
    opening: 100,
    common: 70,
    shown: 20,
    written: 5,
    turns: 4,
    longest: 180,
  };
  const timing = { readToken: 0.001, decodeStep: 0.04, decodeRow: 0.002, learnToken: 0.005 };
  const seconds = stepSeconds(work, timing, configOf({}));
  expect(seconds).toEqual({
    reading: (70 + 8 * 30 + 64 * 3 * 20) * 0.001,
    sampling: 4 * 5 * (0.04 + 63 * 0.002),
    learning: (8 * 100 + 64 * (4 * 5 + 3 * 20)) * 0.005,
  });
  // Each episode of an evaluation has a task of its own.
  expect(episodeSeconds(work, timing, seconds)).toBeCloseTo((30 + 3 * 20) * 0.001 + seconds.sampling / 64);
});

test('timing leaves the engine as it was', async () => {
  const engine = await createEmbeddedEngine({ shape: tiny, seed: 7, threads: 1, tokenBudget: 256 });
  try {
    const scores = async () =>
      (await engine.score({ rows: [{ ids_T: Int32Array.of(1, 2, 3, 4) }] }, { temperature: 1 })).logprobs[0];
    const before = await scores();
    const { version } = engine;
    const timing = await timeEngine(engine, new AbortController().signal);
    for (const seconds of Object.values(timing)) expect(seconds).toBeGreaterThanOrEqual(0);
    expect(timing.learnToken).toBeGreaterThan(0);
    expect(await scores()).toEqual(before);
    expect(engine.version).toBe(version);
  } finally {
    await engine.close();
  }
});
