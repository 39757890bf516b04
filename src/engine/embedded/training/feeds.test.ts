/** What a graph reads of a micro-batch, and what is kept of it. */

import { Session } from 'node:inspector';
import { expect, test } from 'vitest';
import { causalMask } from '../../../model/decoder/forward.ts';
import { batchOf } from '../../token-batch.ts';
import { MicroFeeds } from './feeds.ts';
import { microBatches } from './micro-batch.ts';
import { packBatch } from './packed-batch.ts';

const microOf = (length: number) => {
  const row = { ids_T: new Int32Array(length + 1), channels: { weight: new Float32Array(length + 1) } };
  const packed = packBatch(batchOf([row]), ['weight'], { contextLength: 2000, vocabulary: 8 });
  return [...microBatches(packed, length)][0]!;
};

test('each token sees itself and those before it', () => {
  const feeds = new MicroFeeds();
  for (const length of [4, 6, 4]) {
    const { data, shape } = feeds.of(['causalMask'], microOf(length), 8).causalMask!;
    const [rows, columns] = [length / 2, length];
    expect(shape).toEqual([rows, columns]);
    // Its rows are those of the second half of the tokens.
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        expect((data as Float32Array)[row * columns + column] === 0).toBe(column <= rows + row);
      }
    }
    expect(data).toEqual(causalMask(length).data);
  }
});

test('masks of lengths that are over are given up: whole games as long as 2,000 tokens took gigabytes', async () => {
  const feeds = new MicroFeeds();
  const before = collected();
  for (let length = 2; length <= 1200; length += 2) feeds.of(['causalMask'], microOf(length), 8);
  // All of them together are 577 MB; another thread frees what was collected, a little later.
  await expect.poll(() => collected() - before, { timeout: 10_000 }).toBeLessThan(50e6);
});

/** Bytes of arrays that are still in use. */
function collected(): number {
  const session = new Session();
  session.connect();
  session.post('HeapProfiler.collectGarbage');
  session.disconnect();
  return process.memoryUsage().arrayBuffers;
}
