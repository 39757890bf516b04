/** Sampling draws from the distribution that scoring reports: chi-squared tests through the whole engine. */

import { expect, test } from 'vitest';
import { sampleAll } from '../../../policy/sampler.ts';
import { engineOf, request, stir, tiny } from '../testing/tiny-engine.ts';

/** The 99.9% quantiles of chi-squared with 1 to 10 degrees of freedom. */
const quantiles = [10.8, 13.8, 16.3, 18.5, 20.5, 22.5, 24.3, 26.1, 27.9, 29.6];
const prompt = [3, 1, 4];
const draws = 3000;

test.each([
  { temperature: 1, topP: 1, topK: 0 },
  { temperature: 0.7, topP: 1, topK: 0 },
  { temperature: 1.5, topP: 0.8, topK: 0 },
  { temperature: 1, topP: 1, topK: 4 },
  { temperature: 1.2, topP: 0.9, topK: 6 },
])('%o', async (options) => {
  const engine = await engineOf();
  await stir(engine, 2);
  const rows = Array.from({ length: tiny.vocabulary }, (_, id) => ({
    ids_T: Int32Array.from([...prompt, id]),
    channels: {},
  }));
  const { logprobs } = await engine.score({ rows }, { temperature: options.temperature });
  const probabilities = logprobs.map((row) => Math.exp(row[prompt.length]!));
  const ranked = [...probabilities.keys()].sort((a, b) => probabilities[b]! - probabilities[a]!);
  const candidates = options.topK > 0 ? ranked.slice(0, options.topK) : ranked;
  const mass = candidates.reduce((total, id) => total + probabilities[id]!, 0);
  let kept = 0;
  for (let sum = 0; kept < candidates.length && sum < options.topP * mass - 1e-9; kept++)
    sum += probabilities[candidates[kept]!]!;
  const support = candidates.slice(0, kept);
  const total = support.reduce((sum, id) => sum + probabilities[id]!, 0);

  const counts = new Map<number, number>();
  const results = await sampleAll(
    engine,
    Array.from({ length: draws }, (_, draw) =>
      request(`draw ${draw}`, prompt, { ...options, maxTokens: 1, seed: `draw ${draw}` }),
    ),
  );
  for (const { ids } of results) counts.set(ids[0]!, (counts.get(ids[0]!) ?? 0) + 1);
  expect([...counts.keys()].filter((id) => !support.includes(id))).toEqual([]);
  let statistic = 0;
  for (const id of support) {
    const expected = (draws * probabilities[id]!) / total;
    statistic += ((counts.get(id) ?? 0) - expected) ** 2 / expected;
  }
  expect(support.length).toBeGreaterThan(1);
  expect(statistic).toBeLessThan(quantiles[support.length - 2]!);
});
