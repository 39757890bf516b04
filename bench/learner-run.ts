/** A training run on an engine that a benchmark has wrapped, without a folder. */

import type { Group } from '../src/core/episode.ts';
import { createEmbeddedEngine, type EmbeddedEngine } from '../src/engine/embedded/embedded-engine.ts';
import type { Engine } from '../src/engine/engine.ts';
import type { WorldFactory } from '../src/env/factory.ts';
import { wordRenderer } from '../src/model/chat/renderer.ts';
import type { DecoderShape } from '../src/model/decoder/decoder.ts';
import { WordTokenizer } from '../src/model/tokenizer/word-tokenizer.ts';
import { unwatched } from '../src/rollout/watch.ts';
import { prepareRun } from '../src/run/prepare-run.ts';
import { demonstrate } from '../src/synth/demonstrations.ts';
import type { TrainSettings } from '../src/train/config/config.ts';
import { designModel } from '../src/train/design/design-model.ts';
import { Archive } from '../src/train/kit/archive.ts';
import { createLearner } from '../src/train/kit/learner.ts';
import type { RunSummary, StoredEvent } from '../src/train/loop/events.ts';
import { train } from '../src/train/loop/loop.ts';
import { initialState } from '../src/train/loop/state.ts';
import { isLocal } from '../src/train/model-card.ts';
import { findRecipe } from '../src/train/recipes/recipes.ts';

export interface LearnerRun {
  readonly world: WorldFactory;
  readonly recipe: string;
  readonly settings: TrainSettings;
  /** What the run uses in place of the engine. */
  readonly wrap: (engine: EmbeddedEngine, shape: DecoderShape) => Engine;
  readonly event: (event: StoredEvent) => void;
  /** Those of a step, once they were learned from. */
  readonly episodes?: (step: number, groups: readonly Group[]) => void;
}

export async function learnerRun({
  world: factory,
  settings,
  wrap,
  event,
  episodes,
  ...given
}: LearnerRun): Promise<RunSummary> {
  const { recipe, config, world } = prepareRun(factory, findRecipe(given.recipe), settings);
  const { signal } = new AbortController();
  const { turnTimeoutMs } = config.rollout;
  const { maxTurns } = world;
  const watched = { seed: config.seed, maxTurns, turnTimeoutMs, signal, watch: unwatched };
  const demonstrations = await demonstrate(world, { ...config.clone, ...watched });
  const card = designModel(demonstrations, config, recipe, world);
  if (!isLocal(card.shape)) throw new Error('Only the embedded engine can be wrapped here');
  const engine = await createEmbeddedEngine({
    shape: card.shape,
    seed: config.seed,
    threads: config.threads,
    tokenBudget: config.optimizer.tokenBudget,
  });
  try {
    const learner = createLearner({
      config,
      recipe,
      world,
      card,
      engine: wrap(engine, card.shape),
      renderer: wordRenderer(new WordTokenizer(card.words), card.maxActionWords),
      watch: unwatched,
      archive: new Archive(async () => []),
    });
    return await train(
      learner,
      initialState,
      { imitate: { demonstrations } },
      {
        event,
        progress: () => {},
        rollouts: async (step, groups) => episodes?.(step, groups),
        evaluation: async () => {},
        checkpoint: async () => {},
        now: () => performance.now() / 1000,
        goOn: '',
        signal,
        stopRequested: () => false,
      },
    );
  } finally {
    await engine.close();
  }
}
