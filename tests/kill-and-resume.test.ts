/** Kill a run with SIGKILL at random moments, resume it each time, and compare with a run that was left alone, bit for bit. */

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Rng } from '../src/core/rng.ts';
import { readEvents } from '../src/store/log-lines.ts';

const KILLS = 20;
const STEPS = 40;
const command = new URL('../dist/src/cli/main.js', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'turnwise-kill-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A small run, long enough to be killed many times: a checkpoint after every step. */
const SETTINGS = Object.entries({
  seed: 5,
  steps: STEPS,
  threads: 1,
  'model.width': 32,
  'model.layers': 1,
  'model.heads': 2,
  'model.hidden': 64,
  'clone.demonstrations': 60,
  'clone.steps': 6,
  'clone.batch': 16,
  'rollout.tasks': 4,
  'rollout.group': 4,
  'optimizer.warmupSteps': 1,
  'evaluation.every': 6,
  'evaluation.tasks': 20,
  'evaluation.finalTasks': 30,
  'checkpoint.every': 1,
  rolloutLog: 4,
}).flatMap(([key, value]) => ['--set', `${key}=${value}`]);

const start = (name: string): ChildProcess =>
  spawn(process.execPath, [
    command,
    'train',
    'frozen-lake',
    '--recipe',
    'ppo',
    '--name',
    name,
    '--runs',
    folder,
    ...SETTINGS,
  ]);
const resume = (name: string): ChildProcess =>
  spawn(process.execPath, [command, 'resume', name, '--runs', folder]);

function finished(child: ChildProcess): Promise<{ code: number | null; errors: string }> {
  let errors = '';
  child.stdout?.resume();
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, errors })));
}

/** The events that count, without what may differ: times, speeds, and that the run was resumed. */
function history(name: string): unknown[] {
  return readEvents(join(folder, name, 'events.jsonl'))
    .filter(({ type }) => type !== 'resume')
    .map((event) => JSON.parse(JSON.stringify(event, withoutTimes)) as unknown);
}

function withoutTimes(key: string, value: unknown): unknown {
  const timing = key === 'time' || key === 'seconds' || key === 'run' || /^(time|speed|loop)\//.test(key);
  const resumed = key === 'generation' || key === 'keeps' || key === 'from';
  return timing || resumed ? undefined : value;
}

const sleep = (milliseconds: number): Promise<undefined> =>
  new Promise((resolve) => setTimeout(() => resolve(undefined), milliseconds));

const weights = (name: string): Buffer =>
  readFileSync(join(folder, name, 'checkpoints', String(STEPS), 'model.safetensors'));

test(`${KILLS} kills at random moments change nothing`, { timeout: 600_000 }, async () => {
  if (!existsSync(command)) throw new Error(`${command} does not exist: run "npm run build" first`);
  expect(await finished(start('alone'))).toEqual({ code: 0, errors: '' });
  expect(await finished(start('again'))).toEqual({ code: 0, errors: '' });
  expect(history('again')).toEqual(history('alone'));

  const rng = Rng.of('kill', 1);
  // A kill before the run has a folder leaves nothing to resume: then it starts again.
  const goOn = (): ChildProcess =>
    existsSync(join(folder, 'killed', 'config.json')) ? resume('killed') : start('killed');
  let kills = 0;
  let child = goOn();
  while (kills < KILLS) {
    const exit = finished(child);
    // Mostly in the middle of work; sometimes while the process starts or saves.
    const ended = await Promise.race([exit, sleep(200 + rng.int(700))]);
    if (ended) throw new Error(`The run ended by itself after ${kills} kills: ${JSON.stringify(ended)}`);
    child.kill('SIGKILL');
    await exit;
    kills++;
    child = goOn();
  }
  expect(kills).toBe(KILLS);
  expect(await finished(child)).toEqual({ code: 0, errors: '' });
  expect(history('killed')).toEqual(history('alone'));
  expect(weights('killed').equals(weights('alone'))).toBe(true);
});
