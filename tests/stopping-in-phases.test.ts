/** Ctrl-C and a request to terminate are obeyed within two seconds, whatever a run of a pretrained model does at that moment. */

import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

const command = new URL('../dist/src/cli/main.js', import.meta.url).pathname;
const parity = new URL('hf-parity/', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'turnwise-stop-'));
const checkpoint = join(folder, 'checkpoint');
const model = join(folder, 'model.gguf');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Settings = Readonly<Record<string, string | number>>;

/** Each phase is long where nothing else is said, so that the request comes in its middle. */
const QUICK: Settings = {
  steps: 3,
  threads: 1,
  'environment.range': 4,
  'environment.maxTurns': 3,
  'chat.contextLength': 512,
  'lora.rank': 4,
  'clone.steps': 2,
  'clone.untilValid': 0,
  'clone.batch': 2,
  'clone.demonstrations': 4,
  'rollout.tasks': 2,
  'rollout.group': 2,
  // Random weights never find the number.
  'objective.entropyCoefficient': 0.01,
  'evaluation.every': 0,
  'evaluation.tasks': 2,
  'evaluation.finalTasks': 2,
};

/** Steps or passes, and episodes: more than any of them would end within a test. */
const LONG = 1_000_000;
const MANY = 3000;
const SOME = 400;

function start(words: readonly string[], settings: Settings = {}): ChildProcess {
  const assignments = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  const child = spawn(process.execPath, [command, ...words, '--runs', join(folder, 'runs'), ...assignments]);
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

const train = (name: string, settings: Settings, from = model): ChildProcess =>
  start(['train', 'guess-number', '--model', from, '--name', name, '--json'], { ...QUICK, ...settings });

interface End {
  readonly ended: number | NodeJS.Signals | null;
  readonly errors: string;
}

function endOf(child: ChildProcess): Promise<End> {
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  return new Promise((resolve) =>
    child.on('close', (code, signal) => resolve({ ended: code ?? signal, errors })),
  );
}

/** Resolves a little after the program wrote this. */
function said(child: ChildProcess, text: string, afterMs: number): Promise<void> {
  let output = '';
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes(text)) setTimeout(resolve, afterMs);
    });
    child.on('close', () => reject(new Error(`It ended before it wrote ${text}: ${output}`)));
  });
}

beforeAll(async () => {
  cpSync(join(parity, 'qwen3', 'bf16'), checkpoint, { recursive: true });
  for (const file of ['tokenizer.json', 'tokenizer_config.json'])
    cpSync(join(parity, 'tokenizer-qwen', file), join(checkpoint, file));
  const made = spawn(process.execPath, [
    ...[command, 'train', 'guess-number', '--model', checkpoint, '--name', 'made', '--json'],
    ...['--runs', join(folder, 'runs')],
    ...Object.entries({ ...QUICK, steps: 0 }).flatMap(([key, value]) => ['--set', `${key}=${value}`]),
  ]);
  made.stdout.resume();
  expect(await endOf(made)).toMatchObject({ ended: 0 });
  const exported = spawn(process.execPath, [
    ...[command, 'export', 'made', '--to', model, '--runs', join(folder, 'runs')],
  ]);
  expect(await endOf(exported)).toMatchObject({ ended: 0 });
}, 120_000);

const DEMONSTRATE = '"phase":"demonstrate"';

/** A phase, what the program writes when it is near, how long it then takes to get there, and what makes it long. */
const PHASES: readonly (readonly [string, string, number, Settings])[] = [
  ['playing demonstrations', DEMONSTRATE, 50, { 'clone.demonstrations': 10 * MANY }],
  ['loading a GGUF file, its tokenizer, and building graphs', DEMONSTRATE, 150, {}],
  ['timing the engine', '"type":"start"', 10, {}],
  [
    'the evaluation before imitation',
    '"phase":"clone"',
    200,
    { 'evaluation.finalTasks': MANY, 'clone.untilValid': 1 },
  ],
  ['imitation', '"type":"clone","step":2', 20, { 'clone.steps': LONG }],
  ['the evaluation before reinforcement', '"type":"clone","step":2', 200, { 'evaluation.finalTasks': MANY }],
  ['sampling', '"phase":"train"', 200, { 'rollout.tasks': MANY }],
  ['a training micro-batch', '"phase":"train"', 400, { 'optimizer.epochs': LONG }],
  [
    'an evaluation during training',
    '"type":"step","step":1',
    200,
    // One as long comes before it.
    { 'evaluation.every': 1, 'evaluation.tasks': SOME },
  ],
];

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test.each(PHASES)(
    `${signal} ends %s`,
    async (_phase, text, afterMs, settings) => {
      const child = train(`${signal}-${PHASES.findIndex(([name]) => name === _phase)}`, settings);
      const end = endOf(child);
      await said(child, text, afterMs);
      const asked = performance.now();
      child.kill(signal);
      // The first Ctrl-C in a step asks to end after it; the second one does not wait.
      const again = setTimeout(() => child.kill(signal), 500);
      const { ended, errors } = await end;
      clearTimeout(again);
      expect({ ended, errors }).toMatchObject({ ended: expect.toBeOneOf([130, 'SIGINT', 'SIGTERM']) });
      expect(errors).not.toMatch(/terminate called|Aborted|core dumped|at .*\.js:\d+/);
      expect(performance.now() - asked).toBeLessThan(2000);
    },
    60_000,
  );
}

test.each([50, 200, 400])(
  'SIGTERM ends an export %i ms after its start, and leaves no file',
  async (afterMs) => {
    const child = start(['export', 'made', '--to', join(folder, `late-${afterMs}.gguf`)]);
    const end = endOf(child);
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    const asked = performance.now();
    child.kill('SIGTERM');
    const { errors } = await end;
    expect(errors).not.toMatch(/terminate called|Aborted|core dumped/);
    expect(performance.now() - asked).toBeLessThan(2000);
  },
);
