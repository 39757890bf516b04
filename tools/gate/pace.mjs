/**
 * How slow this machine is just now, two cores at once: the time of a fixed calculation as a percentage of what it took on the
 * machine for which the gate's limit was set. Half of it is arithmetic on arrays, half objects and strings.
 *
 *   node tools/gate/pace.mjs     # prints a whole number, such as 135
 */

import { isMainThread, parentPort, Worker } from 'node:worker_threads';

/** Milliseconds on that machine when nothing else ran. */
const REFERENCE_MS = 530;

function calculate() {
  const size = 320;
  const [left, right, product] = [1, 2, 0].map((value) => new Float32Array(size * size).fill(value));
  for (let row = 0; row < size; row++)
    for (let inner = 0; inner < size; inner++)
      for (let column = 0; column < size; column++)
        product[row * size + column] += left[row * size + inner] * right[inner * size + column];
  const words = new Map();
  for (let index = 0; index < 250_000; index++) {
    const name = `word ${(index * 7919) % 50_021}`;
    words.set(name, { name, count: (words.get(name)?.count ?? 0) + 1 });
  }
  return product[0] + JSON.stringify([...words.values()]).length;
}

if (isMainThread) {
  const began = performance.now();
  const workers = [0, 1].map(() => new Worker(new URL(import.meta.url)));
  await Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('message', resolve))));
  const percent = Math.round((100 * (performance.now() - began)) / REFERENCE_MS);
  // No machine gets less than the limit, and none more than three times as much.
  console.log(Math.min(300, Math.max(100, percent)));
} else {
  for (let round = 0; round < 3; round++) calculate();
  parentPort.postMessage('done');
}
