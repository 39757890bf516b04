import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batchOf } from '../../token-batch.ts';
import { dealMicroBatches, microBatches, paddedTokens } from './micro-batch.ts';
import { packBatch } from './packed-batch.ts';

const limits = { vocabulary: 100, contextLength: 50 };

const rowOf = (length: number, start: number) => ({
  ids_T: Int32Array.from({ length }, (_, t) => (start + t) % 100),
  channels: { weight: Float32Array.from({ length }, (_, t) => start + t) },
});

describe('microBatches', () => {
  it('shifts rows by one and pads them on the right to an even length', () => {
    const packed = packBatch(batchOf([rowOf(3, 10), rowOf(4, 20)]), ['weight'], limits);
    const [only, ...others] = microBatches(packed, 100);
    expect(others).toEqual([]);
    expect(only).toEqual({
      rows: [1, 0],
      shape: [2, 4],
      inputs: BigInt64Array.of(20n, 21n, 22n, 0n, 10n, 11n, 0n, 0n),
      next: BigInt64Array.of(21n, 22n, 23n, 0n, 11n, 12n, 0n, 0n),
      targets: Int32Array.of(2, 3, 4, 0, 1),
      place_N: Int32Array.of(0, 1, 2, 4, 5),
      id_N: Int32Array.of(21, 22, 23, 11, 12),
      row_N: Int32Array.of(1, 1, 1, 0, 0),
      turn_N: new Int32Array(5).fill(-1),
      channels: { weight: Float32Array.of(21, 22, 23, 11, 12) },
    });
  });

  it('holds every row of two tokens or more exactly once, within the budget', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 200 }),
        (lengths, tokenBudget) => {
          const packed = packBatch(batchOf(lengths.map((length) => rowOf(length, 0))), ['weight'], limits);
          const seen: number[] = [];
          for (const { rows, shape } of microBatches(packed, tokenBudget)) {
            const [, length] = shape;
            expect(rows.length === 1 || rows.length * length <= tokenBudget).toBe(true);
            const longest = Math.max(...rows.map((row) => lengths[row]! - 1));
            expect(length).toBe(longest + (longest % 2));
            const padding = rows.reduce((total, row) => total + length - (lengths[row]! - 1), 0);
            expect(padding).toBeLessThanOrEqual(Math.max(32, 0.08 * rows.length * length));
            seen.push(...rows);
          }
          const expected = [...lengths.keys()].filter((row) => lengths[row]! > 1);
          expect(seen.sort((a, b) => a - b)).toEqual(expected);
        },
      ),
    );
  });
});

describe('dealMicroBatches', () => {
  it('gives equal rows to lanes in equal numbers, in as many rounds as the budget asks for', () => {
    const packed = packBatch(batchOf(Array.from({ length: 8 }, () => rowOf(11, 0))), ['weight'], limits);
    const rowsOf = (tokenBudget: number, lanes: number) =>
      dealMicroBatches(packed, tokenBudget, lanes).map((micros) => micros.map(({ rows }) => rows.length));
    expect(rowsOf(1000, 1)).toEqual([[8]]);
    expect(rowsOf(1000, 2)).toEqual([[4], [4]]);
    expect(rowsOf(40, 2)).toEqual([
      [2, 2],
      [2, 2],
    ]);
    expect(rowsOf(1000, 3)).toEqual([[3], [3], [2]]);
    expect(rowsOf(1000, 9)).toEqual([[1], [1], [1], [1], [1], [1], [1], [1], []]);
  });

  it('holds every row of two tokens or more exactly once, in lanes that differ by one micro-batch at most', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 400 }),
        fc.integer({ min: 1, max: 5 }),
        (lengths, tokenBudget, lanes) => {
          const packed = packBatch(batchOf(lengths.map((length) => rowOf(length, 0))), ['weight'], limits);
          const dealt = dealMicroBatches(packed, tokenBudget, lanes);
          expect(dealt).toHaveLength(lanes);
          const seen = dealt.flat().flatMap(({ rows }) => [...rows]);
          const expected = [...lengths.keys()].filter((row) => lengths[row]! > 1);
          expect(seen.sort((a, b) => a - b)).toEqual(expected);
          for (const micro of dealt.flat())
            expect(micro.rows.length === 1 || paddedTokens(micro) * lanes <= tokenBudget + lanes).toBe(true);
          const loads = dealt.map((micros) =>
            micros.reduce((total, micro) => total + paddedTokens(micro), 0),
          );
          const largest = Math.max(0, ...dealt.flat().map(paddedTokens));
          expect(Math.max(...loads) - Math.min(...loads)).toBeLessThanOrEqual(largest);
        },
      ),
    );
  });
});
