/** Every recipe that learns by policy gradient takes real steps, on the smallest environment that fits it. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chain } from '../bench/methods/environments/chain.ts';
import { duet } from '../bench/methods/environments/duet.ts';
import { secretWord } from '../bench/methods/environments/words.ts';
import { train } from '../src/exports/train.ts';
import { readBy } from '../src/train/config/run-schema.ts';
import type { Metrics } from '../src/train/loop/events.ts';
import { recipes } from '../src/train/recipes/recipes.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-recipes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const STEPS = 2;

const onPolicy = recipes.filter(({ learn }) => learn === undefined);

const doors = { ...chain({ doors: 2, turns: 4, words: 2 }), truth: () => secretWord(1, 2) };
const model = { width: 16, layers: 1, heads: 2, hidden: 16 };
beforeAll(async () => {
  const clone = { demonstrations: 40, steps: 30, batch: 16, beginnerShare: 0 };
  const settings = { steps: 0, threads: 1, model, clone, evaluation: { finalTasks: 2 } };
  await train({ world: doors, recipe: 'rloo', runs: folder, name: 'teacher', settings });
});

test.each(onPolicy.map(({ name }) => name))('%s takes two steps', async (name) => {
  const recipe = recipes.find((candidate) => candidate.name === name)!;
  const environment = recipe.needs?.severalRoles ? duet() : doors;
  const steps: Metrics[] = [];
  await train({
    world: environment,
    recipe: name,
    runs: folder,
    settings: readBy(recipe, {
      // Smoothed entropies have a history from the second step on.
      steps: STEPS,
      threads: 1,
      teacher: 'teacher',
      model,
      clone: {
        demonstrations: 40,
        steps: 20,
        batch: 16,
        beginnerShare: 0,
        randomRate: 1,
        learningRate: 1e-2,
      },
      rollout: { tasks: 2, group: 8 },
      objective: { valueWarmup: 0 },
      evaluation: { every: 0, finalTasks: 4 },
      rolloutLog: 0,
    }),
    sinks: [
      {
        event: (event) => {
          if (event.type === 'step') steps.push(event.metrics);
        },
      },
    ],
  });
  expect(steps).toHaveLength(STEPS);
  for (const metrics of steps) {
    for (const [metric, value] of Object.entries(metrics)) expect(value, metric).toSatisfy(Number.isFinite);
    // The sampler's log-probabilities are the trainer's; where nothing was learned nothing is said of them.
    const gap = metrics['policy/kl_sample_train'];
    if ((metrics['tokens/trained'] ?? 0) > 0) expect(Math.abs(gap!)).toBeLessThan(1e-6);
    else expect(gap).toBeUndefined();
  }
  expect(steps.some((metrics) => metrics['optim/gradient_norm']! > 0)).toBe(true);
  expect(steps.some((metrics) => metrics['optim/refused_updates']! > 0)).toBe(false);
});
