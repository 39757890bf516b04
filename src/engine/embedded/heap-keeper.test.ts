import { setTimeout as wait } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { expect, test } from 'vitest';
import { HeapKeeper } from './heap-keeper.ts';

const megabytes = (): number => getHeapStatistics().used_heap_size / 2 ** 20;

/** About 30 MB of objects that nobody holds when it returns. */
function leaveGarbage(): number {
  return Array.from({ length: 300_000 }, (_, value) => ({ value, next: [value] })).length;
}

test('garbage is collected once the heap has grown', async () => {
  const keeper = new HeapKeeper();
  const before = megabytes();
  leaveGarbage();
  await wait(50);
  expect(megabytes() - before).toBeGreaterThan(10);
  keeper.collectIfGrown();
  await expect.poll(() => megabytes() - before, { timeout: 5_000 }).toBeLessThan(2);
});
