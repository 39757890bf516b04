/**
 * A training run whose sampler is not what learns: the weights that act are renewed only every so many steps, as where
 * acting and learning run side by side. Evaluations play the present weights.
 */

import { z } from 'zod';
import { mean } from '../../src/core/statistics.ts';
import type { EmbeddedEngine } from '../../src/engine/embedded/embedded-engine.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { Environment } from '../../src/env/environment.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { Conversations } from '../../src/policy/conversations.ts';
import type { TrainSettings } from '../../src/train/config/config.ts';
import { mergeSettings } from '../../src/train/config/merge.ts';
import type { Metrics } from '../../src/train/loop/events.ts';
import { learnerRun } from '../learner-run.ts';
import { smallSettings, type TrainRun } from './train-run.ts';

export interface StaleSampler {
  readonly environment: Environment;
  readonly recipe: string;
  readonly seed: number;
  readonly settings?: TrainSettings;
  /** Steps from one renewal of the weights that sample to the next. */
  readonly every: number;
}

/** Train with `smallSettings` and what is laid over them. `disagreement` is the KL of the sampler from the trainer, per token. */
export async function staleSamplerRun({
  every,
  seed,
  recipe,
  ...options
}: StaleSampler): Promise<TrainRun & { readonly disagreement: number }> {
  const world = fromEnvironment(options.environment);
  const { name, description } = world;
  const steps: Metrics[] = [];
  const divergences: number[] = [];
  const summary = await learnerRun({
    world: { name, description, options: z.strictObject({}), create: () => world },
    recipe,
    settings: mergeSettings(smallSettings, { seed }, options.settings) as TrainSettings,
    wrap: (trainer, { contextLength }) => heldBack(trainer, contextLength, every, divergences),
    event: (event) => {
      if (event.type === 'step') steps.push(event.metrics);
    },
  });
  return { summary, steps, disagreement: mean(divergences) };
}

/** The engine with weights that sample and are renewed only so often; `divergences` gets those of the sampled tokens. */
function heldBack(
  trainer: EmbeddedEngine,
  contextLength: number,
  every: number,
  divergences: number[],
): Engine {
  const prompts = new Conversations();
  let asked: Asked[] = [];
  let testing: Promise<unknown> | undefined;
  let published = 0;
  return {
    capabilities: trainer.capabilities,
    get version() {
      return trainer.version;
    },
    sample: async (request) => {
      const { conversation } = request;
      if (conversation.startsWith('test/')) {
        testing ??= trainer.publish();
        await testing;
        return trainer.sample(request);
      }
      testing = undefined;
      const result = await trainer.sample(request);
      prompts.open(request, contextLength);
      prompts.add(conversation, result.ids);
      asked.push({ ids_T: prompts.of(conversation).slice(0), logprobs: result.logprobs });
      return result;
    },
    release: (conversations) => {
      for (const conversation of conversations) prompts.release(conversation);
      trainer.release(conversations);
    },
    publish: async () => (published++ % every === 0 ? trainer.publish() : trainer.version),
    score: (batch, request) => trainer.score(batch, request),
    forwardBackward: async (batch, objective, request) => {
      // Before the first step of the optimizer the trainer is as it was when they were sampled.
      divergences.push(...(await divergencesOf(trainer, asked)));
      asked = [];
      return trainer.forwardBackward(batch, objective, request);
    },
    optimStep: (request) => trainer.optimStep(request),
    restartOptimizer: () => trainer.restartOptimizer(),
    freeze: (rate) => trainer.freeze(rate),
    save: (to) => trainer.save(to),
    load: (from) => trainer.load(from),
    close: () => trainer.close(),
  };
}

/** A prompt with its completion, and what the sampler found the completion's tokens to be. */
interface Asked {
  readonly ids_T: Int32Array;
  readonly logprobs: Float32Array;
}

/** Of each sampled token, r − 1 − log r with r = π_trainer / π_sampler: its mean is the divergence of the two. */
async function divergencesOf(trainer: Engine, asked: readonly Asked[]): Promise<number[]> {
  if (asked.length === 0) return [];
  const rows = asked.map(({ ids_T }) => ({ ids_T, channels: {} }));
  const { logprobs } = await trainer.score({ rows }, { temperature: 1 });
  return asked.flatMap(({ logprobs: sampled }, index) =>
    Array.from(sampled, (logprob, token) => {
      const x = logprobs[index]!.at(token - sampled.length)! - logprob;
      return Math.exp(x) - 1 - x;
    }),
  );
}
