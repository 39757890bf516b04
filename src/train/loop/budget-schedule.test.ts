/** Where a budget ends a run before its steps do, the learning rate decays over the steps that the budget allows. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { train } from '../../exports/train.ts';
import { readEvents } from '../../store/log-lines.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-budget-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('with 1,000 steps and room for eight of them, the rate is low at the end', async () => {
  await train({
    ...{ world: 'bandits', recipe: 'rloo', name: 'spent', runs: folder },
    settings: {
      ...{ steps: 1000, threads: 1, model: { width: 16, layers: 1, heads: 2, hidden: 32 } },
      budget: { episodes: 8 * 16 },
      clone: { demonstrations: 24, steps: 10, batch: 4 },
      rollout: { tasks: 4, group: 4 },
      optimizer: { schedule: 'linear', warmupSteps: 0, learningRate: 1e-3 },
      evaluation: { every: 0, tasks: 1, finalTasks: 1 },
    },
  });
  const rates = readEvents(join(folder, 'spent', 'events.jsonl')).flatMap((event) =>
    event.type === 'step' ? [event.metrics['optim/learning_rate'] ?? Number.NaN] : [],
  );
  expect(rates).toHaveLength(8);
  expect(rates[0]).toBeGreaterThan(9e-4);
  expect(rates.at(-1)).toBeLessThan(4e-4);
});
