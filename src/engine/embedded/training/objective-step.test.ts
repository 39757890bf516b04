/** Every objective on a real decoder: gradients of the whole, division into micro-batches, heads and target networks. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Rng } from '../../../core/rng.ts';
import type { DecoderShape } from '../../../model/decoder/decoder.ts';
import type { StepStructure } from '../../../objective/contract/objective.ts';
import { findObjective, objectives } from '../../../objective/objectives.ts';
import type { AdamOptions, TokenBatch } from '../../engine.ts';
import { forwardBackwardStep } from '../../objective-step.ts';
import { createEmbeddedEngine, type EmbeddedEngine } from '../embedded-engine.ts';
import { adam, engineOf, randomBatch, stir, tiny } from '../testing/tiny-engine.ts';
import { stepFor } from '../testing/whole-step.ts';

const shape: DecoderShape = {
  ...tiny,
  layers: 1,
  valueHead: { count: 51, low: -0.1, high: 1.1 },
  extraHeads: {
    q1: 'action',
    q2: 'action',
    v: 'scalar',
    reward: 'scalar',
  },
};
/** ArCHer's heads have the same names as ILQL's, but one number each. */
const archerShape: DecoderShape = {
  ...shape,
  extraHeads: { q1: 'scalar', q2: 'scalar', v1: 'scalar', v2: 'scalar' },
};

const shapeFor = (name: string): DecoderShape => (/^archer-(critic|iql)$/.test(name) ? archerShape : shape);

/** Engines with the same weights and a frozen copy, kept over all tests; no test may leave their weights changed. */
const kept = new Map<string, Promise<EmbeddedEngine>>();
const folders: string[] = [];
afterAll(async () => {
  for (const engine of kept.values()) await (await engine).close();
  for (const folder of folders) await rm(folder, { recursive: true });
});

async function saved(engine: EmbeddedEngine): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weights-'));
  folders.push(folder);
  await engine.save(folder);
  return folder;
}

const usual = 64;

function engineFor(name: string, tokenBudget = usual): Promise<EmbeddedEngine> {
  const wanted = shapeFor(name);
  const key = `${wanted === shape} ${tokenBudget}`;
  const create = async (): Promise<EmbeddedEngine> => {
    const settings = { shape: wanted, seed: 7, threads: 1, inProcess: true };
    const engine = await createEmbeddedEngine({ ...settings, tokenBudget });
    if (tokenBudget === usual) {
      await stir(engine, 3);
      await engine.freeze();
    } else {
      // Training in another division would round differently.
      await engine.load(await saved(await engineFor(name)));
    }
    return engine;
  };
  const engine = kept.get(key) ?? create();
  kept.set(key, engine);
  return engine;
}

async function takeStep(
  engine: EmbeddedEngine,
  name: string,
  batch: TokenBatch & StepStructure,
  options?: object,
) {
  const objective = findObjective(name).create(options);
  return forwardBackwardStep(engine, batch, objective, {
    temperature: 0.8,
    step: 200,
    rng: Rng.of('draw'),
    ...batch,
  });
}

describe.each(objectives.map(({ name }) => name))('%s', (name) => {
  it('gives the same loss and gradient for any division into micro-batches', async () => {
    const seen: number[][] = [];
    for (const tokenBudget of [1, usual]) {
      const engine = await engineFor(name, tokenBudget);
      const { loss, metrics } = await takeStep(engine, name, await stepFor(await engineFor(name)));
      const { gradientNorm } = await engine.optimStep({ ...adam, learningRate: 0 });
      expect(gradientNorm).toBeGreaterThan(0);
      seen.push([loss, gradientNorm, ...Object.values(metrics)]);
    }
    for (const other of seen.slice(1)) {
      for (const [index, value] of other.entries()) {
        const first = seen[0]![index]!;
        // Sums of 32-bit floats in another order.
        expect(Math.abs(value - first)).toBeLessThan(1e-6 * Math.max(1, Math.abs(first)));
      }
    }
  });
});

/** With a huge epsilon and no memory Adam takes a step of `rate` times the gradient. */
const descent = (rate: number): AdamOptions => ({
  ...adam,
  beta1: 0,
  epsilon: 1e6,
  learningRate: 1e6 * rate,
  clipNorm: 0,
});

// Those whose value is what they differentiate: no constants in the gradient.
it.each([
  ['ppo-clip', { klCoefficient: 0.1, klEstimator: 'k3', entropyCoefficient: 0.01 }],
  ['turn-ppo', {}],
  ['dro', {}],
  ['dpo', { beta: 0.5, likelihoodCoefficient: 0.1 }],
  ['rebel', {}],
  ['awr', {}],
  ['hl-gauss', {}],
  ['two-hot', {}],
  ['archer-critic', {}],
  ['mc-returns', {}],
  ['entropy-smoothing', { entropyCoefficient: 0.5 }],
])('%s: a small step along the gradient changes the loss by its squared length', async (name, options) => {
  const engine = await engineFor(name);
  const batch = await stepFor(engine);
  const folder = await saved(engine);
  const move = async (rate: number): Promise<number> => {
    await takeStep(engine, name, batch, options);
    const { gradientNorm } = await engine.optimStep(descent(rate));
    return gradientNorm;
  };
  const lossAfter = async (rate: number): Promise<number> => {
    await move(rate);
    const { loss } = await takeStep(engine, name, batch, options);
    await engine.optimStep(descent(0));
    await engine.load(folder);
    return loss;
  };
  const gradientNorm = await move(0);
  const rate = 0.002 / gradientNorm;
  const slope = ((await lossAfter(-rate)) - (await lossAfter(rate))) / (2 * rate);
  expect(slope / gradientNorm ** 2).toBeCloseTo(1, 2);
});

describe('extra heads', () => {
  it('are read as numbers per token', async () => {
    const engine = await engineFor('ilql');
    const { rows } = randomBatch([6, 3]);
    const scores = await engine.score({ rows }, { temperature: 1, heads: ['q1', 'v'] });
    for (const name of ['q1', 'v']) {
      expect(scores.heads![name]!.map((values) => values.length)).toEqual([6, 3]);
      expect(scores.heads![name]![0]![0]).toBe(0);
    }
    const other = rows.map(({ ids_T }) => ({ ids_T: ids_T.map((id) => (id + 1) % 11) }));
    other[0]!.ids_T.set(rows[0]!.ids_T.subarray(0, 5));
    const changed = await engine.score({ rows: other }, { temperature: 1, heads: ['q1', 'v'] });
    expect(changed.heads!.v![0]![5]).toBeCloseTo(scores.heads!.v![0]![5]!, 6);
    expect(changed.heads!.q1![0]![5]).not.toBeCloseTo(scores.heads!.q1![0]![5]!, 6);
  });

  it('begin apart, and are saved and loaded', async () => {
    const engine = await engineFor('archer-critic');
    const { rows } = randomBatch([6]);
    const read = async (from: EmbeddedEngine) =>
      from.score({ rows }, { temperature: 1, heads: ['q1', 'q2'] });
    const { heads } = await read(engine);
    expect(heads!.q1![0]![2]).not.toBeCloseTo(heads!.q2![0]![2]!, 4);
    const again = await engineOf({ shape: archerShape, seed: 8 });
    await again.load(await saved(engine));
    expect((await read(again)).heads).toEqual(heads);
  });

  it('that a model lacks are refused', async () => {
    const engine = await engineOf();
    const batch = randomBatch([4]);
    await expect(
      engine.score(batch, { temperature: 1, heads: ['v'] }),
    ).rejects.toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: The objective needs a head that the model does not have. Seen: v. Allowed: none: the model has no extra heads. Create the engine with this head among \`extraHeads\`.]`,
    );
    await expect(
      forwardBackwardStep(engine, batch, findObjective('dpo').create(), {
        temperature: 1,
        step: 0,
        rng: Rng.of(1),
      }),
    ).rejects.toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: The objective dpo compares pairs, and the step has none. Pass pairs with the rows.]`,
    );
  });
});

describe('a frozen copy', () => {
  it('moves a share of the way to the present weights', async () => {
    const engine = await engineOf({ shape: archerShape });
    const batch = randomBatch([6]);
    const read = async (frozen: boolean): Promise<number> =>
      (await engine.score(batch, { temperature: 1, frozen, values: true })).values![0]![3]!;
    const trainValues = async (): Promise<void> => {
      const channels = { ...batch.targets.channels, returns: new Float32Array(5).fill(1) };
      const targets = { ...batch.targets, channels };
      await engine.forwardBackward(
        { ...batch, targets },
        findObjective('value-loss').create({ valueClip: 0 }),
        {
          temperature: 1,
        },
      );
      await engine.optimStep(adam);
    };
    await engine.freeze(0.1);
    const before = await read(true);
    expect(before).toBe(await read(false));
    await trainValues();
    await engine.freeze(0.1);
    const [present, target] = [await read(false), await read(true)];
    expect(target).toBeGreaterThan(before);
    expect(target).toBeLessThan(before + 0.5 * (present - before));
    await engine.freeze();
    expect(await read(true)).toBe(present);
    await expect(engine.freeze(0)).rejects.toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: A frozen copy cannot move by this share towards the present weights. Seen: 0. Allowed: above 0, at most 1.]`,
    );
  });
});
