/** Completions of a model that are held to a schema: what is sampled, with which probabilities, beside others that are free. */

import { expect, it } from 'vitest';
import type { Constraint, TokenTexts } from '../../../core/constraint.ts';
import { type SampleRequest, sampleAll } from '../../../policy/sampler.ts';
import { engineOf, request, tiny } from '../testing/tiny-engine.ts';

/** 10 ends a turn. */
const texts: TokenTexts = {
  texts: ['{', '}', '"a"', ':', '1', '2', '[', ']', ',', 'x', ''],
  bytes: 'byte_level',
};
const decode = (ids: Iterable<number>): string => [...ids].map((id) => texts.texts[id]!).join('');
const schema = {
  type: 'object',
  properties: { a: { type: 'array', items: { enum: [1, 2, 12, 21] }, minItems: 1, maxItems: 4 } },
  required: ['a'],
  additionalProperties: false,
};
const constraint: Constraint = { forms: [{ begin: '', schema, end: '', notation: 'compact' }] };
const held = (name: string, more: Partial<SampleRequest & SampleRequest['sampling']> = {}) =>
  request(name, [9, 9, 1], { maxTokens: 40, stopIds: [10], constraint: { ...constraint, texts }, ...more });

it('completions fit the schema, end by themselves, and have the probabilities of what was allowed', async () => {
  expect(tiny.vocabulary).toBe(texts.texts.length);
  const engine = await engineOf();
  const results = await sampleAll(
    engine,
    [...Array(20).keys()].map((k) => held(`${k}`, { seed: `${k}`, topLogprobs: tiny.vocabulary })),
  );
  expect(new Set(results.map(({ ids }) => decode(ids))).size).toBeGreaterThan(5);
  for (const { ids, logprobs, finish, top } of results) {
    expect(finish).toBe('stop');
    const { a } = JSON.parse(decode(ids)) as { a: number[] };
    expect(a.every((one) => [1, 2, 12, 21].includes(one))).toBe(true);
    for (const [t, id] of [...ids].entries()) {
      const total = top![t]!.reduce((sum, { logprob }) => sum + Math.exp(logprob), 0);
      expect(total).toBeCloseTo(1, 5);
      expect(top![t]!.find((one) => one.id === id)!.logprob).toBeCloseTo(logprobs[t]!, 5);
    }
  }
});

it('a completion that is free is the same beside one that is held', async () => {
  const free = (name: string): SampleRequest => request(name, [1, 2, 3], { maxTokens: 12, seed: 'free' });
  const alone = await engineOf();
  const [before] = await sampleAll(alone, [free('a'), free('b')]);
  const [beside, answer] = await sampleAll(await engineOf(), [free('a'), held('b')]);
  expect([...beside!.ids]).toEqual([...before!.ids]);
  expect(JSON.parse(decode(answer!.ids))).toHaveProperty('a');
});

it('greedy sampling and a length limit hold', async () => {
  const engine = await engineOf();
  const [greedy, cut] = await sampleAll(engine, [held('a', { temperature: 0 }), held('b', { maxTokens: 3 })]);
  expect(JSON.parse(decode(greedy!.ids))).toHaveProperty('a');
  expect(cut).toMatchObject({ finish: 'length' });
  expect(decode(cut!.ids)).toBe('{"a":');
});

it('a schema without a grammar fails alone', async () => {
  const engine = await engineOf();
  const wrong = { forms: [{ begin: '', schema: { type: 'colour' }, end: '' }], texts };
  const [failed, fine] = await Promise.allSettled([
    engine.sample(held('a', { constraint: wrong })),
    engine.sample(held('b')),
  ]);
  expect(failed).toMatchObject({ status: 'rejected', reason: { code: 'schema-unsupported' } });
  expect(fine.status).toBe('fulfilled');
});

it('is refused together with choices, and without forms', async () => {
  const engine = await engineOf();
  await expect(engine.sample(held('a', { choices: [Int32Array.of(1, 10)] }))).rejects.toMatchObject({
    code: 'sample-invalid',
    message: expect.stringContaining('has choices and a constraint'),
  });
  await expect(engine.sample(held('a', { constraint: { forms: [], texts } }))).rejects.toMatchObject({
    code: 'sample-invalid',
  });
});

it('each id is heard when it is sampled, and a completion ends where that is enough', async () => {
  const engine = await engineOf();
  const heard: number[] = [];
  const listening = (name: string, most: number) =>
    engine.sample({
      ...request(name, [1, 2, 3], { maxTokens: 12, seed: 'same' }),
      heard: (id) => heard.push(id) < most,
    });
  const whole = await listening('a', 100);
  expect(heard.splice(0)).toEqual([...whole.ids]);
  const cut = await listening('b', 4);
  expect(cut).toMatchObject({ finish: 'stop' });
  expect([...cut.ids].slice(0, 4)).toEqual([...whole.ids].slice(0, 4));
  expect(cut.ids.length).toBeLessThan(whole.ids.length);
});
