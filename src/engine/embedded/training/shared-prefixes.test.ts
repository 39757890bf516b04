/** What rows share is computed once: the same losses, gradients and scores as row by row. */

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Rng } from '../../../core/rng.ts';
import { readSafetensors } from '../../../model/checkpoint/safetensors.ts';
import type { Objective } from '../../../objective/contract/objective.ts';
import { findObjective } from '../../../objective/objectives.ts';
import type { TokenBatch } from '../../engine.ts';
import { forwardBackwardStep } from '../../objective-step.ts';
import { batchOf, sharedRows, type TokenRow } from '../../token-batch.ts';
import type { EmbeddedEngine } from '../embedded-engine.ts';
import { adam, engineOf, likelihood, stir, tiny } from '../testing/tiny-engine.ts';
import { treeLines } from './lines.ts';
import { packBatch } from './packed-batch.ts';
import { paysToShare } from './sharing.ts';

/** Branches: each row goes on from a random place of an earlier one, or begins anew. */
function branches(seed: number, count: number): Int32Array[] {
  const rng = Rng.of('branches', seed);
  const rows: number[][] = [];
  for (let row = 0; row < count; row++) {
    const from = row > 0 && rng.chance(0.8) ? rng.pick(rows) : [];
    const own = Array.from({ length: 1 + rng.int(6) }, () => rng.int(4));
    rows.push([...from.slice(0, rng.int(from.length + 1)), ...own]);
  }
  return rows.map((ids) => Int32Array.from(ids));
}

/** Every token a target, with a number of its own. */
function branchBatch(seed: number, count: number): TokenBatch {
  const rng = Rng.of('numbers', seed);
  const draw = (ids_T: Int32Array): Float32Array => Float32Array.from(ids_T, () => rng.next());
  return batchOf(
    branches(seed, count).map(
      (ids_T): TokenRow => ({
        ids_T,
        turn_T: Int32Array.from(ids_T, (_, token) => Math.floor(token / 2)),
        channels: {
          weight: draw(ids_T).map((share) => 0.01 + share / 20),
          advantages: draw(ids_T),
          oldLogprobs: draw(ids_T).map((share) => -2 - share),
        },
      }),
    ),
  );
}

describe('sharedRows', () => {
  it('finds the longest beginning that an earlier row has', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 12 }), (seed, count) => {
        const rows = branches(seed, count);
        const alike = (a: Int32Array, b: Int32Array): number => {
          let length = 0;
          while (length < a.length && length < b.length && a[length] === b[length]) length++;
          return length;
        };
        for (const [row, { ids_T, sharedWith }] of sharedRows(rows).entries()) {
          const longest = Math.max(0, ...rows.slice(0, row).map((other) => alike(ids_T, other)));
          expect(sharedWith?.length ?? 0).toBe(longest);
          if (sharedWith) expect(alike(ids_T, rows[sharedWith.row]!)).toBe(longest);
          if (sharedWith) expect(sharedWith.row).toBeLessThan(row);
        }
      }),
    );
  });
});

describe('treeLines', () => {
  it('hold every row as a path of its tokens, and no token twice where all fit in one line', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.integer({ min: 1, max: 12 }),
        fc.constantFrom(6, 1000),
        (seed, count, most) => {
          const batch = branchBatch(seed, count);
          const packed = packBatch(batch, [], tiny);
          const seen: number[] = [];
          for (const { rows, ids, parents, paths } of treeLines(packed, most)) {
            expect(rows.length === 1 || ids.length <= most).toBe(true);
            const prefixes = new Set<string>();
            for (const [index, row] of rows.entries()) {
              seen.push(row);
              const path = paths![index]!;
              expect([...path].map((input) => ids[input])).toEqual([...batch.rows[row]!.ids_T.slice(0, -1)]);
              expect([...path].map((input) => parents![input])).toEqual(
                [-1, ...path.slice(0, -1)].slice(0, path.length),
              );
              for (let length = 1; length <= path.length; length++)
                prefixes.add(batch.rows[row]!.ids_T.slice(0, length).join());
            }
            // As many inputs as there are different prefixes.
            expect(ids.length).toBe(prefixes.size);
          }
          const predicting = [...batch.rows.keys()].filter((row) => batch.rows[row]!.ids_T.length > 1);
          expect(seen.sort((a, b) => a - b)).toEqual(predicting);
        },
      ),
    );
  });
});

const shared = (engine: { lora?: { rank: number }; tokenBudget?: number } = {}) =>
  engineOf({ ...engine, sharedPrefixes: 'always' });

/** Loss and metrics, and the gradient: with epsilon far above it and no memory, Adam subtracts rate / epsilon times it. */
async function gradientOf(engine: EmbeddedEngine, batch: TokenBatch, objective: Objective) {
  const { loss, metrics } = await forwardBackwardStep(engine, batch, objective, {
    temperature: 0.7,
    step: 1,
    rng: Rng.of(1),
  });
  const figures = [loss, ...Object.values(metrics)];
  const before = await weightsOf(engine);
  const plain = { ...adam, beta1: 0, beta2: 0, epsilon: 1e4, learningRate: 1e5, clipNorm: 0 };
  await engine.optimStep(plain);
  const after = await weightsOf(engine);
  const gradient = [...before].flatMap(([name, { data }]) =>
    Array.from(data, (value, index) => (value - after.get(name)!.data[index]!) / 10),
  );
  return { figures, gradient };
}

async function weightsOf(engine: EmbeddedEngine) {
  const folder = await mkdtemp(join(tmpdir(), 'turnwise-shared-'));
  await engine.save(folder);
  const name = (await readdir(folder)).find((file) => /model\.safetensors$/.test(file))!;
  const { tensors } = await readSafetensors(join(folder, name));
  await rm(folder, { recursive: true });
  return tensors;
}

/** The size of the difference of two lists of numbers, as a share of the size of the second. */
const difference = (one: readonly number[], other: readonly number[]): number => {
  expect(one.length).toBe(other.length);
  const size = (values: readonly number[]): number => Math.hypot(...values);
  return size(one.map((value, index) => value - other[index]!)) / size(other);
};

describe.each([
  ['all weights', {}],
  ['an adapter', { lora: { rank: 2 } }],
] as const)('%s', (_, options) => {
  it.each(['ppo-clip', 'gspo', 'turn-ppo', 'cross-entropy'])(
    '%s: losses and gradients are those of rows',
    async (name) => {
      const objective = findObjective(name).create();
      const [apart, together, narrow] = [
        await engineOf({ ...options, sharedPrefixes: 'never' }),
        await shared(options),
        await shared({ ...options, tokenBudget: 8 }),
      ];
      await stir(apart, 2);
      const folder = await mkdtemp(join(tmpdir(), 'turnwise-shared-'));
      await apart.save(folder);
      for (const engine of [together, narrow]) await engine.load(folder);
      await rm(folder, { recursive: true });
      const { rows } = branchBatch(4, 9);
      const scored = async (engine: EmbeddedEngine): Promise<number[]> => {
        const { logprobs, entropies } = await engine.score({ rows }, { temperature: 0.7, entropies: true });
        return [...logprobs, ...entropies!].flatMap((values) => [...values]);
      };
      const scores = await scored(apart);
      for (const engine of [together, narrow])
        expect(difference(await scored(engine), scores)).toBeLessThan(1e-5);
      const batch = branchBatch(3, 9);
      const expected = await gradientOf(apart, batch, objective);
      for (const engine of [together, narrow]) {
        const { figures, gradient } = await gradientOf(engine, batch, objective);
        expect(difference(figures, expected.figures)).toBeLessThan(1e-5);
        expect(difference(gradient, expected.gradient)).toBeLessThan(1e-5);
      }
    },
  );
});

it('computes each shared token once', async () => {
  const prompt = Array.from({ length: 20 }, (_, t) => t % tiny.vocabulary);
  const rows = [1, 2, 3, 4].map((id) => ({
    ids_T: Int32Array.from([...prompt, id, id + 1]),
    channels: { weight: new Float32Array(22).fill(0.1, 20) },
  }));
  const batch = batchOf(rows);
  const run = async (engine: EmbeddedEngine) => engine.forwardBackward(batch, likelihood, { temperature: 1 });
  const [apart, together] = [
    await run(await engineOf({ lora: { rank: 2 }, sharedPrefixes: 'never' })),
    await run(await shared({ lora: { rank: 2 } })),
  ];
  expect(apart.paddedTokens).toBe(4 * 22);
  expect(together.paddedTokens).toBe(20 + 4);
  expect(together.tokens).toBe(apart.tokens);
  expect(together.loss).toBeCloseTo(apart.loss, 5);
});

it('trees may have more tokens than the context', async () => {
  const shape = { ...tiny, contextLength: 12 };
  const rows = Array.from({ length: 11 }, (_, id) => ({
    ids_T: Int32Array.from({ length: 12 }, (_, t) => (t < 4 ? t : (id + t) % 11)),
    channels: { weight: new Float32Array(12).fill(0.01, 4) },
  }));
  const lossOf = async (sharedPrefixes: 'always' | 'never') => {
    const engine = await engineOf({ shape, sharedPrefixes, tokenBudget: 1000 });
    return engine.forwardBackward(batchOf(rows), likelihood, { temperature: 1 });
  };
  const [apart, together] = [await lossOf('never'), await lossOf('always')];
  expect(together.paddedTokens).toBeGreaterThan(80);
  expect(together.loss).toBeCloseTo(apart.loss, 5);
});

it('members that sampled the same token behind the same prefix keep an advantage each', async () => {
  const ids_T = Int32Array.of(1, 2, 3);
  const row = (advantage: number): TokenRow => ({
    ids_T,
    channels: {
      weight: Float32Array.of(0, 0, 1),
      advantages: Float32Array.of(0, 0, advantage),
    },
  });
  const objective = findObjective('policy-gradient').create();
  const engine = await shared();
  const both = batchOf([row(2), row(-0.5)]);
  const { loss } = await engine.forwardBackward(both, objective, { temperature: 1 });
  const merged = { rows: both.rows.slice(0, 1), targets: { ...both.targets, row_N: new Int32Array(2) } };
  const { logprobs } = await engine.score(merged, { temperature: 1 });
  expect(loss).toBeCloseTo(-1.5 * logprobs[0]![2]!, 5);
  for (const sharedPrefixes of ['always', 'never'] as const) {
    const other = await engineOf({ sharedPrefixes });
    const onOneRow = await other.forwardBackward(merged, objective, { temperature: 1 });
    expect(onOneRow.loss).toBeCloseTo(loss, 6);
  }
});

it('is chosen where prompts are long and weights frozen, and not for a token or two', () => {
  const wide = { ...tiny, width: 256, hidden: 1024, heads: 4, keyValueHeads: 4, headWidth: 64 };
  const group = (prompt: number, answer: number) =>
    packBatch(
      batchOf(
        Array.from({ length: 8 }, (_, member) => ({
          ids_T: Int32Array.from({ length: prompt + answer }, (_, t) =>
            t < prompt ? 1 : 1 + ((member + t) % 9),
          ),
          channels: {},
        })),
      ),
      [],
      tiny,
    );
  const lora = { rank: 2 } as never;
  expect(paysToShare(group(100, 40), wide, lora)).toBe(true);
  expect(paysToShare(group(2, 40), wide, lora)).toBe(false);
  expect(paysToShare(group(100, 40), wide, undefined)).toBe(false);
});
