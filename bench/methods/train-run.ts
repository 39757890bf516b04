/** One seeded training run of an experiment, in a folder that is gone afterwards. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../src/env/environment.ts';
import type { World } from '../../src/env/world.ts';
import { train } from '../../src/exports/train.ts';
import type { TrainSettings } from '../../src/train/config/config.ts';
import { mergeSettings } from '../../src/train/config/merge.ts';
import { readBy } from '../../src/train/config/run-schema.ts';
import type { Metrics, RunSummary } from '../../src/train/loop/events.ts';
import { findRecipe } from '../../src/train/recipes/recipes.ts';
import type { Outcome } from './experiment.ts';

/** A model and a budget of seconds; experiments say what they change. */
export const smallSettings = {
  threads: 1,
  model: { width: 32, layers: 1, heads: 2, hidden: 64 },
  clone: { demonstrations: 200, beginnerShare: 0, randomRate: 1, steps: 12, batch: 32, learningRate: 3e-3 },
  rollout: { tasks: 8, group: 8 },
  optimizer: { learningRate: 5e-3, warmupSteps: 2, schedule: 'constant' },
  evaluation: { every: 0, finalTasks: 200 },
  checkpoint: { every: 10_000 },
  rolloutLog: 0,
} as const satisfies TrainSettings;

/** Imitated first, where an expert's phrases would leave nothing to learn: those of beginners, who say any words. */
export const saysAnything = {
  demonstrations: 400,
  beginnerShare: 1,
  randomRate: 0,
  steps: 40,
} as const satisfies TrainSettings['clone'];

export interface TrainRun {
  readonly summary: RunSummary;
  /** Metrics of every step. */
  readonly steps: readonly Metrics[];
}

/** Train with `smallSettings` and what is laid over them. */
export async function trainRun(options: {
  readonly environment: Environment | World;
  readonly recipe: string;
  readonly seed: number;
  readonly settings?: TrainSettings;
}): Promise<TrainRun> {
  const folder = mkdtempSync(join(tmpdir(), 'turnwise-methods-'));
  const steps: Metrics[] = [];
  try {
    const summary = await train({
      world: options.environment,
      recipe: options.recipe,
      settings: readBy(
        findRecipe(options.recipe),
        mergeSettings(smallSettings, { seed: options.seed }, options.settings) as TrainSettings,
      ),
      runs: folder,
      sinks: [
        {
          event: (event) => {
            if (event.type === 'step') steps.push(event.metrics);
          },
        },
      ],
    });
    return { summary, steps };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Success while learning (its mean over all steps is the area under the curve) and on held-out tasks at the end. */
export function learningOutcome({ summary, steps }: TrainRun, metric = 'reward/success'): Outcome {
  const curve = steps.map((metrics) => metrics[metric] ?? 0);
  return {
    figures: {
      area: curve.reduce((sum, value) => sum + value, 0) / Math.max(1, curve.length),
      final: summary.after.sampled.success,
    },
    curve,
  };
}

/** Steps of the environment until the mean success of three steps in a row is 0.8, or all that were made. */
export function callsToSuccess({ steps }: TrainRun): number {
  let calls = 0;
  const recent: number[] = [];
  for (const step of steps) {
    calls += step['turns/total']!;
    recent.push(step['reward/success']!);
    const last = recent.slice(-3);
    if (last.length === 3 && last.reduce((sum, value) => sum + value, 0) / 3 >= 0.8) break;
  }
  return calls;
}

/** The share of tokens whose gradient the clip took out, over all steps. */
export function clippedShare({ steps }: TrainRun): number {
  const shares = steps.map((step) => step['policy/clip_fraction'] ?? 0);
  return shares.reduce((sum, share) => sum + share, 0) / Math.max(1, shares.length);
}
