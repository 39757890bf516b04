/** IGPO reads the policy's own probability of the truth: where the policy sampled the truth, it is the sampler's. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { train } from '../src/exports/train.ts';
import { readEpisodeFile } from '../src/store/rollouts/read-episodes.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-own-probability-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const settings = {
  seed: 3,
  steps: 1,
  threads: 1,
  model: { width: 8, layers: 1, heads: 1, hidden: 8 },
  clone: { demonstrations: 60, steps: 10, batch: 16 },
  rollout: { tasks: 32, group: 4 },
  evaluation: { every: 0, finalTasks: 1 },
  rolloutLog: 1,
} as const;

test.each([0, 1])('with a temperature of 1 and of 0.7, at every turn (case %i)', async (index) => {
  const name = `igpo-${index}`;
  const rollout = { ...settings.rollout, temperature: [1, 0.7][index]! };
  await train({
    world: 'guess-number',
    recipe: 'igpo',
    name,
    runs: folder,
    settings: { ...settings, rollout },
  });
  const { groups } = readEpisodeFile(join(folder, name, 'rollouts', '1.jsonl.gz'))!;
  let read = 0;
  let hits = 0;
  for (const { task, calls, transitions, credit } of groups.flatMap(({ members }) => members)) {
    const facts_K = credit?.agent?.facts_K;
    if (!facts_K) continue;
    expect(facts_K).toHaveLength(transitions.length);
    const truth = String((task as { secret: number }).secret);
    for (const [k, { answerProbability }] of facts_K.entries()) {
      expect(answerProbability).toBeGreaterThan(0);
      expect(answerProbability).toBeLessThan(1);
      read++;
      const { text, logprobs } = calls[k]!;
      if (text !== truth) continue;
      const sampled = Math.exp(logprobs.reduce((sum, logprob) => sum + logprob, 0) / logprobs.length);
      expect(answerProbability).toBeCloseTo(sampled, 4);
      hits++;
    }
  }
  expect(read).toBeGreaterThan(50);
  expect(hits).toBeGreaterThan(4);
});
