/** A program whose environment goes wrong at every call: its run ends, nothing of ours is left behind, and the process exits by itself. */

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

const exportsPath = new URL('../dist/src/exports/index.js', import.meta.url).href;
const faultsPath = new URL('../src/rollout/testing/faulty-world.ts', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'turnwise-faulty-process-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(async () => {
  if (!existsSync(new URL(exportsPath)))
    throw new Error(`${exportsPath} does not exist: run "npm run build" first`);
  const bundle = await rolldown({ input: faultsPath, platform: 'node', logLevel: 'silent' });
  await bundle.write({ file: join(folder, 'faulty-world.mjs'), format: 'esm' });
  await bundle.close();
});

const program = (rate: number): string => `
import { train } from ${JSON.stringify(exportsPath)};
import { defineEnvironment, fromEnvironment } from ${JSON.stringify(exportsPath.replace('index.js', 'env.js'))};
import { faultyWorld, Rng } from './faults.mjs';
const echo = defineEnvironment({
  name: 'echo',
  description: 'say the word that was said',
  maxTurns: 3,
  tasks: () => ({ size: 2, at: (index) => ({ word: index === 0 ? 'red' : 'blue' }) }),
  start: ({ word }) => ({ state: { word, turn: 0 }, messages: [{ role: 'user', content: 'say:' + word }] }),
  step: ({ word, turn }, action) => {
    const success = action === word;
    return { state: { word, turn: turn + 1 }, observation: '', reward: success ? 1 : 0, done: turn === 1, success, valid: true };
  },
  actions: () => ['red', 'blue'],
  solve: ({ word }) => word,
});
let active = false;
const faulty = faultyWorld(fromEnvironment(echo), {
  get rate() { return active ? ${rate} : 0; },
  rng: Rng.of('process', ${rate}),
  lateMs: 90,
});
const summary = await train({
  world: faulty.world,
  recipe: 'arpo',
  name: 'faulty-${rate}',
  runs: ${JSON.stringify(folder)},
  settings: {
    ...{ steps: 3, threads: 1, model: { width: 16, layers: 1, heads: 2, hidden: 32 } },
    clone: { demonstrations: 16, steps: 2, batch: 4 },
    rollout: { tasks: 4, group: 8, turnTimeoutMs: 60, failureLimit: 0 },
    evaluation: { every: 0, finalTasks: 4 },
  },
  sinks: [{ event: (event) => { if (event.type === 'phase' && event.phase === 'train') active = true; } }],
});
await faulty.settled();
// What came late is let go of when it comes, which has its deadline too.
await new Promise((resolve) => setTimeout(resolve, 150));
const timers = process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
console.log(JSON.stringify({
  steps: summary.steps, sessions: faulty.openSessions(), snapshots: faulty.openSnapshots(), timers,
  broken: faulty.broken().length > 0,
}));
`;

test.each([0.01, 0.1, 0.5])(
  'with %d of all calls going wrong',
  async (rate) => {
    writeFileSync(
      join(folder, 'faults.mjs'),
      `export * from './faulty-world.mjs';\nexport { Rng } from ${JSON.stringify(new URL('../dist/src/core/rng.js', import.meta.url).href)};\n`,
    );
    const file = join(folder, `program-${rate}.mjs`);
    writeFileSync(file, program(rate));
    // It never calls process.exit: whatever of ours still held the process would hold it for ever.
    const child = spawn(process.execPath, [file]);
    onTestFinished(() => void child.kill('SIGKILL'));
    let said = '';
    let errors = '';
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      errors += chunk.toString();
    });
    const ended = await new Promise((resolve) =>
      child.on('close', (code, signal) => resolve(code ?? signal)),
    );
    expect({ ended, errors }).toEqual({ ended: 0, errors: '' });
    expect(JSON.parse(said)).toEqual({ steps: 3, sessions: 0, snapshots: 0, timers: 0, broken: true });
  },
  60_000,
);
