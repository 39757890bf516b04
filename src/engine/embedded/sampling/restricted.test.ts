/** Completions that are restricted to choices: what is sampled, with which probabilities, and that scoring agrees. */

import { describe, expect, it } from 'vitest';
import { allowedAt } from '../../../core/choices.ts';
import { type SampleRequest, type SampleResult, sampleAll } from '../../../policy/sampler.ts';
import { scoredRows } from '../../token-batch.ts';
import type { EmbeddedEngine } from '../embedded-engine.ts';
import { engineOf, request, stir } from '../testing/tiny-engine.ts';

/** 2 ends a turn. Behind 6 nothing is left to choose. */
const choices = [
  [3, 2],
  [4, 5, 2],
  [4, 8, 2],
  [4, 8, 9, 2],
  [6, 7, 1, 2],
].map((ids) => Int32Array.from(ids));
const prompt = [1, 0, 10, 5];

const restricted = (name: string, more: Partial<SampleRequest & SampleRequest['sampling']> = {}) =>
  request(name, prompt, { maxTokens: 4, stopIds: [2], choices, ...more });

async function scoresOf(engine: EmbeddedEngine, ids: Int32Array, temperature: number, among = choices) {
  const row = {
    ids_T: Int32Array.of(...prompt, ...ids),
    allowed_T: [...prompt.map(() => null), ...allowedAt(among, ids)],
  };
  const { logprobs, entropies } = await engine.score(scoredRows([row]), { temperature, entropies: true });
  return {
    logprobs: [...logprobs[0]!.subarray(prompt.length)],
    entropies: [...entropies![0]!.subarray(prompt.length)],
  };
}

const isChoice = ({ ids }: SampleResult): boolean =>
  choices.some((choice) => choice.join() === [...ids].join());

describe.each([{}, { lora: { rank: 2 } }, { sharedPrefixes: 'always' as const }])('with %o', (options) => {
  it('the log-probabilities of the sampler are those of scoring, and 0 where nothing was to be chosen', async () => {
    const engine = await engineOf(options);
    await stir(engine);
    for (const temperature of [2, 0.7]) {
      const results = await sampleAll(
        engine,
        [...Array(40).keys()].map((k) => restricted(`${temperature}/${k}`, { temperature, seed: `${k}` })),
      );
      expect(new Set(results.map(({ ids }) => ids.join())).size).toBeGreaterThan(1);
      for (const result of results) {
        expect(isChoice(result)).toBe(true);
        expect(result.finish).toBe('stop');
        const { logprobs, entropies } = await scoresOf(engine, result.ids, temperature);
        expect(result.entropy).toBeCloseTo(
          entropies.reduce((sum, one) => sum + one, 0),
          4,
        );
        for (const [t, allowed] of allowedAt(choices, result.ids).entries()) {
          expect(Math.abs(result.logprobs[t]! - logprobs[t]!)).toBeLessThan(1e-4);
          if (allowed.length === 1)
            expect([result.logprobs[t], logprobs[t], entropies[t]]).toEqual([0, 0, 0]);
          else expect(entropies[t]).toBeLessThanOrEqual(Math.log(allowed.length) + 1e-5);
        }
      }
    }
  });

  it('the probabilities of all choices sum to 1, and are the shares of what is sampled', async () => {
    const engine = await engineOf(options);
    await stir(engine);
    const probabilities = await Promise.all(
      choices.map(async (ids) => {
        const { logprobs } = await scoresOf(engine, ids, 1);
        return Math.exp(logprobs.reduce((sum, logprob) => sum + logprob, 0));
      }),
    );
    expect(probabilities.reduce((sum, probability) => sum + probability, 0)).toBeCloseTo(1, 5);
    const drawn = 600;
    const results = await sampleAll(
      engine,
      [...Array(drawn).keys()].map((k) => restricted(`${k}`, { seed: `share ${k}` })),
    );
    for (const [index, choice] of choices.entries()) {
      const share = results.filter(({ ids }) => ids.join() === choice.join()).length / drawn;
      const probability = probabilities[index]!;
      const spread = Math.sqrt((probability * (1 - probability)) / drawn);
      expect(Math.abs(share - probability)).toBeLessThan(5 * spread + 1e-3);
    }
  });
});

describe('restricted sampling', () => {
  it('is greedy, truncated, and tells the likeliest tokens among those that are allowed', async () => {
    const engine = await engineOf();
    await stir(engine);
    const [greedy, first, told] = await sampleAll(engine, [
      restricted('greedy', { temperature: 0 }),
      restricted('first', { topK: 1 }),
      restricted('told', { topLogprobs: 3 }),
    ]);
    expect([...first!.ids]).toEqual([...greedy!.ids]);
    expect(isChoice(greedy!)).toBe(true);
    const sets = allowedAt(choices, told!.ids);
    for (const [t, top] of told!.top!.entries()) {
      expect([...top.map(({ id }) => id)].sort((a, b) => a - b)).toEqual([...sets[t]!]);
      const mass = top.reduce((sum, { logprob }) => sum + Math.exp(logprob), 0);
      expect(mass).toBeCloseTo(1, 5);
    }
  });

  it('asks the model for nothing where all is forced, and goes on from there', async () => {
    const engine = await engineOf();
    const only = [Int32Array.of(6, 7, 2)];
    const forced = await engine.sample(restricted('a', { choices: only }));
    expect([...forced.ids]).toEqual([6, 7, 2]);
    expect([...forced.logprobs]).toEqual([0, 0, 0]);
    expect((await engine.statistics()).forwardTokens).toBe(0);
    const next = await engine.sample(request('a', [9], { keep: prompt.length + 3, maxTokens: 1 }));
    const row = { ids_T: Int32Array.of(...prompt, 6, 7, 2, 9, ...next.ids) };
    const { logprobs } = await engine.score({ rows: [row] }, { temperature: 1 });
    expect(next.logprobs[0]).toBeCloseTo(logprobs[0]!.at(-1)!, 4);
    expect((await engine.statistics()).forwardTokens).toBe(prompt.length + 4);
  });

  it('refuses choices that it cannot tell apart or end', async () => {
    const engine = await engineOf();
    const refuse = (more: Partial<SampleRequest & SampleRequest['sampling']>) =>
      engine.sample(restricted('r', more)).then(
        () => 'accepted',
        (error: Error) => error.message,
      );
    const of = (...lists: number[][]) => ({ choices: lists.map((list) => Int32Array.from(list)) });
    expect(await refuse(of([4], [4, 2]))).toMatchInlineSnapshot(
      `"The sampling request of conversation r has a choice with which another one begins. Seen: 2 choices. Allowed: choices that each end with an id that no other has there, such as one that ends a turn."`,
    );
    expect(await refuse(of())).toMatchInlineSnapshot(
      `"The sampling request of conversation r has an unusable number of choices. Seen: 0. Allowed: 1 to 256."`,
    );
    expect(await refuse(of([4, 11]))).toMatchInlineSnapshot(
      `"The sampling request of conversation r has an unusable choice. Seen: the ids 4, 11. Allowed: at least one id, each 0 to 10."`,
    );
    expect(await refuse({ maxTokens: 3 })).toMatchInlineSnapshot(
      `"The sampling request of conversation r has a choice above its maxTokens. Seen: 4 tokens. Allowed: at most 3."`,
    );
    const long = { append: Int32Array.from(Array(297).fill(1)) };
    expect(await refuse(long)).toMatchInlineSnapshot(
      `"The sampling request of conversation r has a prompt of unusable length. Seen: 297 tokens. Allowed: 1 to 296 tokens."`,
    );
  });
});
