/** A process may exit at any moment, whatever the engine's threads compute: it ends with its own code, and soon. */

import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';

const dist = new URL('../dist/src/', import.meta.url).href;

/** What every program here begins with: `keep(t, outputs)` runs a graph in a thread for ever, with inputs of [t, t]. */
const PRELUDE = `
import { Worker } from 'node:worker_threads';
import { shareNativeCalls } from '${dist}graph/node/native-calls.js';
const source = ${JSON.stringify(`
(async () => {
  const { workerData: { size, outputs }, parentPort } = require('node:worker_threads');
  const { Graph } = await import('${dist}graph/graph.js');
  const { toOnnx } = await import('${dist}graph/onnx.js');
  const { matmul } = await import('${dist}graph/operators/matrix.js');
  const { loadGraph } = await import('${dist}graph/node/loaded-graph.js');
  const graph = new Graph();
  const x = graph.input('x', ['T', 'T']);
  const results = Array.from({ length: outputs }, (_, i) => ['y' + i, matmul(x, x, { scale: i + 2 })]);
  const session = await loadGraph(toOnnx(Object.fromEntries(results)), { threads: 1 });
  const run = (t) => session.run({ x: { data: new Float32Array(t * t), shape: [t, t] } });
  await run(2);
  parentPort.postMessage('ready');
  for (;;) await run(size);
})();`)};
const keep = (size, outputs) => new Promise((resolve) => {
  shareNativeCalls();
  new Worker(source, { eval: true, execArgv: [], workerData: { size, outputs } }).on('message', resolve);
});
`;

/** How a program ended: its code, or the name of the signal that ended it. */
function run(program: string): Promise<{ ended: number | string | null; errors: string; tookMs: number }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PRELUDE + program]);
  onTestFinished(() => void child.kill('SIGKILL'));
  let errors = '';
  let saidAt = 0;
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  child.stdout.once('data', () => {
    saidAt = performance.now();
  });
  return new Promise((resolve) =>
    child.on('close', (code, signal) =>
      resolve({ ended: code ?? signal, errors, tookMs: performance.now() - saidAt }),
    ),
  );
}

// Nearly all the time of these calls goes into making results, which is where the exit of the process must not come.
test.each([0, 1, 130])(
  'exit %i comes between two calls of onnxruntime',
  async (code) => {
    const program = `
await Promise.all(Array.from({ length: 4 }, () => keep(2, 300)));
setTimeout(() => process.exit(${code}), 30);`;
    for (let trial = 0; trial < 3; trial++)
      expect(await run(program)).toMatchObject({ ended: code, errors: '' });
  },
  30_000,
);

test('an interrupted process does not wait for a call of minutes, and a shell sees that it was interrupted', async () => {
  const { ended, errors, tookMs } = await run(`
process.on('SIGINT', () => {});
await keep(4096, 1000);
setTimeout(() => { console.log('now'); process.exit(130); }, 300);`);
  expect({ ended, errors }).toEqual({ ended: 'SIGINT', errors: '' });
  expect(128 + constants.signals.SIGINT).toBe(130);
  expect(tookMs).toBeLessThan(2000);
}, 30_000);
