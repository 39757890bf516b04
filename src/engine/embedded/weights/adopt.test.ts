/** An engine that begins with the weights of another. */

import { expect, test } from 'vitest';
import { adam, engineOf, likelihood, randomBatch, tiny } from '../testing/tiny-engine.ts';

const batch = randomBatch([9, 5]);
const heads = { extraHeads: { worth: 'scalar' }, contextLength: tiny.contextLength + 2 } as const;

test.each([{}, { lora: { rank: 2 } }])(
  'takes over what it has too; its heads stay as they are, its optimizer begins anew, %o',
  async (own) => {
    const taught = await engineOf(own);
    const critic = await engineOf({ ...own, shape: { ...tiny, ...heads } });
    const step = async (engine: typeof taught) => {
      await engine.forwardBackward(batch, likelihood, { temperature: 1 });
      await engine.optimStep({ ...adam, weightDecay: 0.1 });
    };
    const logprobs = async (engine: typeof taught) =>
      (await engine.score(batch, { temperature: 1 })).logprobs;
    for (let steps = 0; steps < 3; steps++) await step(taught);
    await step(critic);
    const before = await critic.weights();
    await critic.adopt(await taught.weights());

    const [from, to] = [await taught.weights(), await critic.weights()];
    for (const [name, { data }] of to)
      expect(data, name).toEqual(from.has(name) ? from.get(name)!.data : before.get(name)!.data);
    expect([...to.keys()].filter((name) => !from.has(name))).toEqual([
      'value_head.worth.weight',
      'value_head.worth.bias',
    ]);
    expect(await logprobs(critic)).toEqual(await logprobs(taught));

    await taught.restartOptimizer();
    for (const engine of [taught, critic]) await step(engine);
    expect(await logprobs(critic)).toEqual(await logprobs(taught));
  },
);

test('what it gives is a copy', async () => {
  const engine = await engineOf();
  const given = await engine.weights();
  const [name, { data }] = [...given][0]!;
  const first = data[0]!;
  data.fill(0);
  expect((await engine.weights()).get(name)!.data[0]).toBe(first);
});

test('a weight of another shape is left as it is, though it has as many numbers', async () => {
  const engine = await engineOf();
  const before = await engine.weights();
  const [name, { shape, data }] = [...before].find(([, weight]) => weight.shape.length === 2)!;
  const turned = { shape: [...shape].reverse(), data: data.map((value) => value + 1) };
  expect(turned.shape).not.toEqual(shape);
  await engine.adopt(new Map([[name, turned]]));
  expect((await engine.weights()).get(name)).toEqual({ shape, data });
});
