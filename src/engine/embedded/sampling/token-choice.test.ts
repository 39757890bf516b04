import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Rng } from '../../../core/rng.ts';
import { chooseAmong, chooseToken, likeliestTokens, type TokenChoiceOptions } from './token-choice.ts';

const logits_V = Float32Array.of(1.5, -0.3, 0.8, 2.1, -4, 0.8, 0, 1.1);

function softmax(logits: Float32Array, temperature: number): number[] {
  const weights = Array.from(logits, (logit) => Math.exp(logit / temperature));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** Probabilities after truncation, straight from the definition. */
function reference({ temperature, topK, topP }: TokenChoiceOptions): number[] {
  const probabilities = softmax(logits_V, temperature);
  let kept = probabilities.map((_, id) => id).sort((a, b) => probabilities[b]! - probabilities[a]! || a - b);
  if (topK > 0) kept = kept.slice(0, topK);
  const mass = kept.reduce((sum, id) => sum + probabilities[id]!, 0);
  let count = 0;
  for (let sum = 0; count === 0 || sum < topP * mass; count++) sum += probabilities[kept[count]!]!;
  kept = topP < 1 ? kept.slice(0, count) : kept;
  const total = kept.reduce((sum, id) => sum + probabilities[id]!, 0);
  return probabilities.map((probability, id) => (kept.includes(id) ? probability / total : 0));
}

/** The same choice by sorting the whole vocabulary. */
function bySorting(
  logits: Float32Array,
  { temperature, topK, topP }: TokenChoiceOptions,
  uniform: number,
): number {
  const highest = Math.max(...logits);
  const weights = Array.from(logits, (logit) => Math.exp((logit - highest) * (1 / temperature)));
  const sumOf = (ids: readonly number[]) => ids.reduce((sum, id) => sum + weights[id]!, 0);
  const all = weights.map((_, id) => id);
  const cuts = topK > 0 && topK < all.length;
  const ranked = [...all]
    .sort((a, b) => weights[b]! - weights[a]! || a - b)
    .slice(0, cuts ? topK : undefined);
  const whole = cuts ? sumOf(ranked) : sumOf(all);
  let kept = 1;
  while (kept < ranked.length && sumOf(ranked.slice(0, kept)) < topP * whole) kept++;
  const order = cuts || topP < 1 ? ranked.slice(0, kept) : all;
  let running = 0;
  for (const id of order) {
    running += weights[id]!;
    if (running > uniform * sumOf(order)) return id;
  }
  return order.findLast((id) => weights[id]! > 0)!;
}

describe('chooseToken', () => {
  it.each<TokenChoiceOptions>([
    { temperature: 1, topP: 1, topK: 0 },
    { temperature: 0.5, topP: 1, topK: 0 },
    { temperature: 2, topP: 0.8, topK: 0 },
    { temperature: 1, topP: 1, topK: 3 },
    { temperature: 1.3, topP: 0.7, topK: 5 },
    { temperature: 1, topP: 0.01, topK: 0 },
  ])('draws from the truncated distribution: %o', (options) => {
    const draws = 40_000;
    const rng = Rng.of('chi-squared', JSON.stringify(options));
    const counts = new Array<number>(logits_V.length).fill(0);
    for (let draw = 0; draw < draws; draw++) counts[chooseToken(logits_V, options, rng.next()).id]!++;
    let statistic = 0;
    let cells = 0;
    for (const [id, probability] of reference(options).entries()) {
      if (probability === 0) expect(counts[id]).toBe(0);
      else {
        statistic += (counts[id]! - draws * probability) ** 2 / (draws * probability);
        cells++;
      }
    }
    // The 99.9% quantile of chi-squared with up to 7 degrees of freedom is 24.3.
    expect(statistic).toBeLessThan(cells === 1 ? 1e-9 : 24.3);
  });

  it('reports the log-probability under the whole distribution, whatever was cut', () => {
    const { id, logprob } = chooseToken(logits_V, { temperature: 0.7, topP: 0.3, topK: 2 }, 0.4);
    expect(logprob).toBeCloseTo(Math.log(softmax(logits_V, 0.7)[id]!), 10);
  });

  it('tells the entropy of the whole distribution, whatever was cut, and where tokens are impossible', () => {
    const entropyOf = (temperature: number) =>
      softmax(logits_V, temperature).reduce((sum, p) => sum - p * Math.log(p), 0);
    for (const temperature of [0.3, 1, 2]) {
      const { entropy } = chooseToken(logits_V, { temperature, topK: 2, topP: 0.5 }, 0.4);
      expect(entropy).toBeCloseTo(entropyOf(temperature), 6);
    }
    expect(chooseToken(logits_V, { temperature: 0, topK: 0, topP: 1 }, 0.4).entropy).toBeCloseTo(
      entropyOf(1),
      6,
    );
    const impossible = Float32Array.of(0, Number.NEGATIVE_INFINITY, 0);
    const whole = { temperature: 1, topK: 0, topP: 1 };
    expect(chooseToken(impossible, whole, 0.4).entropy).toBeCloseTo(Math.LN2, 6);
    expect(chooseToken(Float32Array.of(0, -800), whole, 0.4).entropy).toBe(0);
    const two = chooseAmong(logits_V, Int32Array.of(2, 5), whole, 0.4);
    expect(two.entropy).toBeCloseTo(Math.LN2, 6);
  });

  it('is greedy at temperature 0, takes the first of equals, and reports at temperature 1', () => {
    const { id, logprob } = chooseToken(logits_V, { temperature: 0, topP: 1, topK: 0 }, 0.999);
    expect(id).toBe(3);
    expect(logprob).toBeCloseTo(Math.log(softmax(logits_V, 1)[3]!), 10);
    expect(chooseToken(Float32Array.of(1, 2, 2), { temperature: 0, topP: 1, topK: 0 }, 0).id).toBe(1);
  });

  it('keeps the tokens that sorting all of them keeps, ties by id', () => {
    const rng = Rng.of('ranked');
    for (let draw = 0; draw < 300; draw++) {
      const spread = rng.pick([0, 0.01, 3, 200]);
      const drawn = Float32Array.from({ length: 400 }, () => Math.round(rng.normal() * spread * 8) / 8);
      const temperature = rng.pick([0.3, 1, 2]);
      const [topK, topP] = [rng.pick([0, 1, 7, 399, 400]), rng.pick([0.05, 0.5, 0.95, 1])];
      const uniform = rng.next();
      const { id } = chooseToken(drawn, { temperature, topK, topP }, uniform);
      expect(id).toBe(bySorting(drawn, { temperature, topK, topP }, uniform));
    }
  });

  it('survives logits that differ by hundreds', () => {
    const extreme = Float32Array.of(-900, 900, 0);
    expect(chooseToken(extreme, { temperature: 1, topP: 0.9, topK: 2 }, 0.9999999)).toEqual({
      id: 1,
      logprob: 0,
      entropy: 0,
    });
  });

  it('never returns a token without probability, for any uniform', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (uniform) => {
        const { id, logprob } = chooseToken(
          Float32Array.of(-800, 3, 3, -800),
          { temperature: 1, topP: 1, topK: 0 },
          uniform,
        );
        expect(id).toBe(uniform < 0.5 ? 1 : 2);
        expect(logprob).toBeCloseTo(Math.log(0.5));
      }),
    );
  });
});

describe('likeliestTokens', () => {
  it.each([0, 0.5, 1, 2])(
    'are the first of the whole distribution at temperature %d, equals by id',
    (temperature) => {
      const probabilities = softmax(logits_V, temperature === 0 ? 1 : temperature);
      const ranked = [...probabilities.keys()].sort((a, b) => probabilities[b]! - probabilities[a]! || a - b);
      for (let count = 1; count <= logits_V.length + 1; count++) {
        const told = likeliestTokens(logits_V, temperature, count);
        expect(told.map(({ id }) => id)).toEqual(ranked.slice(0, count));
        for (const { id, logprob } of told) expect(logprob).toBeCloseTo(Math.log(probabilities[id]!), 10);
      }
    },
  );

  it('agree with the token that is drawn', () => {
    const { id, logprob } = chooseToken(logits_V, { temperature: 0, topP: 1, topK: 0 }, 0);
    expect(likeliestTokens(logits_V, 0, 1)).toEqual([{ id, logprob }]);
  });
});
