/** What moves and what does not: the value head alone, and an optimizer that begins anew. */

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { readSafetensors, type SafetensorsFile } from '../../../model/checkpoint/safetensors.ts';
import { combine } from '../../../objective/contract/combine.ts';
import { ofValueHead, valueLoss } from '../../../objective/critic/value.ts';
import type { AdamOptions } from '../../engine.ts';
import { batchOf } from '../../token-batch.ts';
import type { EmbeddedEngine } from '../embedded-engine.ts';
import { adam, engineOf, likelihood, randomRows, tiny } from '../testing/tiny-engine.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

/** All that the engine saves, by file and tensor: weights, and moments under their own names. */
async function saved(engine: EmbeddedEngine): Promise<Map<string, Float32Array>> {
  const folder = await mkdtemp(join(tmpdir(), 'turnwise-groups-'));
  folders.push(folder);
  await engine.save(folder);
  const names = (await readdir(folder)).filter((name) => name.endsWith('.safetensors'));
  const files = await Promise.all(
    names.map((name): Promise<SafetensorsFile> => readSafetensors(join(folder, name))),
  );
  return new Map(
    files.flatMap(({ tensors }) => [...tensors].map(([name, { data }]) => [name, data] as const)),
  );
}

async function movedBy(engine: EmbeddedEngine, work: () => Promise<unknown>): Promise<string[]> {
  const before = await saved(engine);
  await work();
  const after = await saved(engine);
  return [...after.keys()].filter((name) => `${after.get(name)!}` !== `${before.get(name)!}`).sort();
}

const batch = batchOf(
  randomRows([8, 6]).map(({ ids_T, channels }) => ({
    ids_T,
    channels: { ...channels, returns: new Float32Array(ids_T.length).fill(3) },
  })),
);
const values = valueLoss({ valueClip: 0, valueCoefficient: 1 });
const all = combine([likelihood, values]);
const harsh: AdamOptions = { ...adam, weightDecay: 0.1, decayAll: true, learningRate: 0.05 };
const withHead = { shape: { ...tiny, valueHead: true } };
const head = ['first.', 'second.', ''].flatMap((kind) => [
  `${kind}value_head.bias`,
  `${kind}value_head.weight`,
]);

describe.each([
  ['all weights', withHead],
  ['an adapter', { ...withHead, lora: { rank: 2 } }],
] as const)('%s', (_, options) => {
  test('the value head moves alone: no weight, decay or moment of another parameter is touched', async () => {
    const engine = await engineOf(options);
    await engine.forwardBackward(batch, all, { temperature: 1 });
    await engine.optimStep(harsh);
    const moved = await movedBy(engine, async () => {
      for (let step = 0; step < 3; step++) {
        await engine.forwardBackward(batch, ofValueHead(values), { temperature: 1 });
        await engine.optimStep({ ...harsh, only: 'value-head' });
      }
    });
    expect(moved).toEqual(head);
  });

  test('gradients of others are no part of the norm, and are forgotten', async () => {
    const [engine, alone] = [await engineOf(options), await engineOf(options)];
    await engine.forwardBackward(batch, all, { temperature: 1 });
    const { gradientNorm } = await engine.optimStep({ ...adam, only: 'value-head' });
    await alone.forwardBackward(batch, ofValueHead(values), { temperature: 1 });
    const { gradientNorm: own } = await alone.optimStep({ ...adam, only: 'value-head' });
    expect(gradientNorm).toBeCloseTo(own, 5);
    expect(own).toBeGreaterThan(0);
    expect((await engine.optimStep(adam)).gradientNorm).toBe(0);
  });

  test('a checkpoint from between goes on bit by bit, and knows how often each parameter has moved', async () => {
    const [engine, resumed] = [await engineOf(options), await engineOf(options)];
    await engine.forwardBackward(batch, ofValueHead(values), { temperature: 1 });
    await engine.optimStep({ ...adam, only: 'value-head' });
    const folder = await mkdtemp(join(tmpdir(), 'turnwise-groups-'));
    folders.push(folder);
    await engine.save(folder);
    await resumed.load(folder);
    for (const each of [engine, resumed]) {
      await each.forwardBackward(batch, all, { temperature: 1 });
      await each.optimStep(adam);
    }
    expect(await saved(resumed)).toEqual(await saved(engine));
  });

  test('after a restart a step without a gradient moves nothing; with the old moments it moves everything', async () => {
    const engine = await engineOf(options);
    for (let step = 0; step < 3; step++) {
      await engine.forwardBackward(batch, all, { temperature: 1 });
      await engine.optimStep(adam);
    }
    const idle = () => movedBy(engine, () => engine.optimStep(adam));
    expect((await idle()).length).toBeGreaterThan(10);
    await engine.restartOptimizer();
    expect(await idle()).toEqual([]);
  });

  test('a checkpoint with moments that begin anew is loaded as it is', async () => {
    const [engine, resumed] = [await engineOf(options), await engineOf(options)];
    await engine.forwardBackward(batch, all, { temperature: 1 });
    await engine.optimStep(adam);
    await engine.restartOptimizer();
    const folder = await mkdtemp(join(tmpdir(), 'turnwise-groups-'));
    folders.push(folder);
    await engine.save(folder);
    const { tensors, metadata } = await readSafetensors(join(folder, 'optimizer.safetensors'));
    expect(metadata).toEqual({ step: '0' });
    for (const { data } of tensors.values()) expect(data.every((moment) => moment === 0)).toBe(true);
    await resumed.load(folder);
    for (const each of [engine, resumed]) {
      await each.forwardBackward(batch, all, { temperature: 1 });
      await each.optimStep(adam);
    }
    expect(await saved(resumed)).toEqual(await saved(engine));
  });
});

test('without a value head there is nothing to move alone', async () => {
  const engine = await engineOf();
  await expect(engine.optimStep({ ...adam, only: 'value-head' })).rejects.toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The value head alone cannot move, and the model has none. Create the engine with a value head, or move all parameters.]`,
  );
});
