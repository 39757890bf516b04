/**
 * A training run whose sampler is not what learns: the weights that act are renewed only every so many steps, as where
 * acting and learning run side by side. Evaluations play the present weights.
 */

import { z } from 'zod';
import { mean } from '../../src/core/statistics.ts';
import { createEmbeddedEngine } from '../../src/engine/embedded/embedded-engine.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { Environment } from '../../src/env/environment.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { wordRenderer } from '../../src/model/chat/renderer.ts';
import { WordTokenizer } from '../../src/model/tokenizer/word-tokenizer.ts';
import { Conversations } from '../../src/policy/conversations.ts';
import { unwatched } from '../../src/rollout/watch.ts';
import { prepareRun } from '../../src/run/prepare-run.ts';
import { demonstrate } from '../../src/synth/demonstrations.ts';
import type { TrainSettings } from '../../src/train/config/config.ts';
import { mergeSettings } from '../../src/train/config/resolve.ts';
import { Archive } from '../../src/train/kit/archive.ts';
import { createLearner, designModel } from '../../src/train/kit/learner.ts';
import type { Metrics } from '../../src/train/loop/events.ts';
import { train } from '../../src/train/loop/loop.ts';
import { initialState } from '../../src/train/loop/state.ts';
import { isLocal } from '../../src/train/model-card.ts';
import { findRecipe } from '../../src/train/recipes/recipes.ts';
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
  ...options
}: StaleSampler): Promise<TrainRun & { readonly disagreement: number }> {
  const world = fromEnvironment(options.environment);
  const { name, description } = world;
  const settings = mergeSettings(smallSettings, { seed: options.seed }, options.settings) as TrainSettings;
  const { recipe, config } = prepareRun(
    { name, description, options: z.strictObject({}), create: () => world },
    findRecipe(options.recipe),
    settings,
  );
  const { signal } = new AbortController();
  const { turnTimeoutMs } = config.rollout;
  const { maxTurns } = world;
  const watched = { seed: config.seed, maxTurns, turnTimeoutMs, signal, watch: unwatched };
  const demonstrations = await demonstrate(world, { ...config.clone, ...watched });
  const card = designModel(demonstrations, config, recipe, world);
  if (!isLocal(card.shape)) throw new Error('The embedded engine alone holds its weights back here');
  const trainer = await createEmbeddedEngine({
    shape: card.shape,
    seed: config.seed,
    threads: 1,
    tokenBudget: config.optimizer.tokenBudget,
  });
  const steps: Metrics[] = [];
  const divergences: number[] = [];
  const prompts = new Conversations();
  let asked: Asked[] = [];
  let testing: Promise<unknown> | undefined;
  let published = 0;
  try {
    const engine: Engine = {
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
        prompts.open(request, card.shape.contextLength);
        prompts.add(conversation, result.ids);
        asked.push({ ids_T: prompts.of(conversation).slice(0).slice(), logprobs: result.logprobs });
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
    const renderer = wordRenderer(new WordTokenizer(card.words), card.maxActionWords);
    const learner = createLearner({
      config,
      recipe,
      world,
      card,
      engine,
      renderer,
      watch: unwatched,
      archive: new Archive(async () => []),
    });
    const beginning = { imitate: { demonstrations } };
    const summary = await train(learner, initialState, beginning, {
      event: (event) => {
        if (event.type === 'step') steps.push(event.metrics);
      },
      progress: () => {},
      rollouts: async () => {},
      evaluation: async () => {},
      checkpoint: async () => {},
      now: () => performance.now() / 1000,
      goOn: '',
      signal,
      stopRequested: () => false,
    });
    return { summary, steps, disagreement: mean(divergences) };
  } finally {
    await trainer.close();
  }
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
