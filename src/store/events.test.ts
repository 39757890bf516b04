import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StoredEvent } from '../train/loop/events.ts';
import { type Disk, realDisk } from './disk.ts';
import { plainGroup } from './episodes.test-helper.ts';
import { readEvents } from './log-lines.ts';
import { readMetrics, seriesOf } from './metrics-file.ts';
import { RunDirectory } from './run-directory.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'turnwise-events-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const create = (disk?: Disk): RunDirectory =>
  RunDirectory.create({
    root,
    name: 'run',
    version: '1.0.0',
    world: { name: 'maze', source: 'maze' },
    recipe: 'rloo',
    config: {},
    ...(disk && { disk }),
  });
const open = (): RunDirectory => RunDirectory.openForWriting({ root, name: 'run', version: '1.0.0' });
const origin = { world: { source: 'maze', options: {}, version: null }, tokenizer: null };

const spent = { episodes: 0, turns: 0, tokens: 0, seconds: 0 };

const step = (number: number, value = number): StoredEvent => ({
  type: 'step',
  step: number,
  steps: 9,
  metrics: { loss: value },
  spent,
});

async function save(run: RunDirectory, number: number): Promise<void> {
  const write = async (folder: string): Promise<void> => writeFileSync(join(folder, 'weights'), 'weights');
  await run.saveCheckpoint({ step: number, identity: 'tiny', keep: 9, state: {}, write });
}

/** A resumed run: what its last checkpoint does not know is replaced. */
async function resumed(): Promise<RunDirectory> {
  const run = open();
  const checkpoint = await run.checkpoints.open();
  const warnings = run.rewind(checkpoint);
  run.events.append({ type: 'resume', step: checkpoint.step });
  for (const warning of warnings) run.events.append(warning);
  return run;
}

/** Steps and other types of the events that count. */
const seen = (run: RunDirectory): (string | number)[] =>
  run.events.read().map((event) => (event.type === 'step' ? event.step : event.type));

describe('a resumed run', () => {
  it('opens a generation, and cuts nothing from under a reader', async () => {
    const run = create();
    run.events.append(step(1));
    await save(run, 1);
    run.events.append(step(2, 20));
    const bytes = readFileSync(run.events.path);
    await run.close();
    const again = await resumed();
    again.events.append(step(2, 21));
    expect(readFileSync(again.events.path).subarray(0, bytes.length)).toEqual(bytes);
    expect(seen(again)).toEqual([1, 'resume', 2]);
    expect(again.events.read()[1]).toMatchObject({ generation: 2, from: 1 });
    await save(again, 2);
    expect((await again.checkpoints.open()).manifest.generation).toBe(2);
    again.events.append(step(3));
    await again.close();
    const third = await resumed();
    expect(seen(third)).toEqual([1, 'resume', 2, 'resume']);
    expect(third.events.generation).toBe(3);
    await third.close();
  });

  it('begins again from nothing where there is no checkpoint', async () => {
    const run = create();
    run.events.append(step(1));
    await run.close();
    const again = open();
    again.rewind(undefined);
    again.events.append(step(1));
    expect(seen(again)).toEqual([1]);
    expect(again.events.generation).toBe(2);
    await again.close();
  });

  it('leaves the line of a killed process where it is, in the middle', async () => {
    const run = create();
    run.events.append(step(1));
    await save(run, 1);
    appendFileSync(run.events.path, '{"type":"ste');
    await run.close();
    const again = await resumed();
    expect(seen(again)).toEqual([1, 'resume']);
    await again.close();
  });

  it('goes on from intact weights where the log is short or damaged, and says so', async () => {
    const run = create();
    for (const number of [1, 2, 3]) run.events.append(step(number));
    await save(run, 3);
    await run.close();
    const whole = readFileSync(run.events.path);
    truncateSync(run.events.path, whole.length - 1);
    const short = await resumed();
    expect(seen(short)).toEqual([1, 2, 'resume', 'warning']);
    await short.close();
    expect(
      String((short.events.last() as { message?: string }).message).replace(/\d+/, 'N'),
    ).toMatchInlineSnapshot(
      `"the event log is N bytes shorter than the checkpoint says; the weights are intact, and the run continues from them"`,
    );
    writeFileSync(run.events.path, whole.toString().replace('"step":2', '"step":x'));
    expect(() => run.events.read()).toThrow('line 2');
    const damaged = await resumed();
    expect(seen(damaged)).toEqual([1, 3, 'resume', 'warning']);
    expect(damaged.events.last()).toMatchObject({
      message: 'line 2 of the event log is not JSON; the run continues without it',
    });
    await damaged.close();
  });

  it('at any length of the log: reading is clear, and it goes on', async () => {
    const run = create();
    run.events.append(step(1));
    await save(run, 1);
    for (const number of [2, 3]) run.events.append(step(number));
    await run.close();
    const whole = readFileSync(run.events.path);
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length), async (length) => {
        writeFileSync(run.events.path, whole.subarray(0, length));
        const before = readEvents(run.events.path).length;
        expect(before).toBe(whole.subarray(0, length).toString().split('\n').length - 1);
        const again = await resumed();
        const types = seen(again);
        expect(types.slice(0, types.indexOf('resume'))).toEqual(before > 0 ? [1] : []);
        again.events.append(step(2));
        expect(seen(again).at(-1)).toBe(2);
        await again.close();
      }),
      { numRuns: 25 },
    );
  });

  it('keeps the episodes of both generations apart', async () => {
    const run = create();
    run.events.append({ type: 'phase', phase: 'train' });
    const first = run.storeRollouts(origin);
    for (const number of [1, 2, 3]) await first.write(number, [plainGroup(number, 0)]);
    await save(run, 1);
    await run.close();
    const again = await resumed();
    expect(again.readRollouts().index.steps()).toEqual([1]);
    const second = again.storeRollouts(origin);
    await second.write(2, [plainGroup(2, 0, 5)]);
    await second.settled();
    const steps = again
      .readRollouts()
      .index.filter()
      .map((record) => record.step);
    expect(steps).toEqual([1, 1, 2, 2, 2, 2, 2]);
    expect(again.reindex()).toBe(7);
    await again.close();
    const third = open();
    expect(third.readRollouts().index.filter()).toHaveLength(7);
    await third.close();
  });
});

it('flushes the log and the episodes before the manifest that names them', async () => {
  const order: string[] = [];
  const watched: Disk = {
    ...realDisk,
    flush: async (path) => {
      order.push(`flush ${path.split('/').at(-1)}`);
      await realDisk.flush(path);
    },
    replaceFile: (path, content) => {
      if (path.endsWith('manifest.json')) order.push('manifest');
      realDisk.replaceFile(path, content);
    },
  };
  const run = create(watched);
  run.events.append(step(1));
  await run.storeRollouts(origin).write(1, [plainGroup(1, 0)]);
  await save(run, 1);
  expect(order.slice(0, 2)).toEqual(['flush rollouts', 'flush events.jsonl']);
  expect(order.indexOf('manifest')).toBeGreaterThan(1);
  await run.close();
});

it('waits at the end for episodes that are being stored, and says where they could not be', async () => {
  const run = create({
    ...realDisk,
    writeChunks: async () => {
      throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    },
  });
  await run.storeRollouts(origin).write(1, [plainGroup(1, 0)]);
  await expect(save(run, 1)).rejects.toMatchObject({ code: 'disk-full' });
  await expect(run.close()).rejects.toMatchObject({ code: 'disk-full' });
  expect(existsSync(join(run.path, 'run.lock'))).toBe(false);
});

describe('metrics', () => {
  it('are the numbers of the log, infinities included, and made anew where they are missing', async () => {
    const run = create();
    run.events.append(step(1, Number.NaN));
    run.events.append(step(2, 61_440_001));
    run.events.append({
      type: 'step',
      step: 3,
      steps: 9,
      metrics: { loss: Number.NEGATIVE_INFINITY, 'groups/dropped': 1 },
      spent,
    });
    const rows = run.readMetrics();
    expect(seriesOf(rows, 'loss').map(({ value }) => value)).toEqual([
      Number.NaN,
      61_440_001,
      Number.NEGATIVE_INFINITY,
    ]);
    expect(seriesOf(rows, 'groups/dropped')).toMatchObject([{ step: 3, value: 1 }]);
    const path = join(run.path, 'metrics.bin');
    const bytes = readFileSync(path);
    for (let length = 0; length <= bytes.length; length++) {
      const read = readMetricsAt(run, path, bytes.subarray(0, length));
      expect(read).toEqual(rows.slice(0, read.length));
    }
    rmSync(path);
    expect(run.readMetrics()).toEqual(rows);
    run.reindex();
    expect(readFileSync(path).subarray(16)).toEqual(bytes.subarray(16));
    await run.close();
  });

  it('mark what a resumed run replaced', async () => {
    const run = create();
    run.events.append(step(1));
    await save(run, 1);
    run.events.append(step(2, 20));
    await run.close();
    const again = await resumed();
    again.events.append(step(2, 21));
    const rows = again.readMetrics();
    expect(rows.map(({ step: at, replaced }) => [at, replaced])).toEqual([
      [1, false],
      [2, true],
      [2, false],
    ]);
    expect(seriesOf(rows, 'loss').map(({ value }) => value)).toEqual([1, 21]);
    await again.close();
  });

  function readMetricsAt(run: RunDirectory, path: string, bytes: Uint8Array): ReturnType<typeof readMetrics> {
    writeFileSync(path, bytes);
    return readMetrics(path, run.events.path);
  }
});

it('keeps how each task of an evaluation went', async () => {
  const run = create();
  run.storeRollouts(origin);
  await run.storeEvaluation(4, { sampled: [plainGroup(4, 0)], greedy: [] });
  expect(run.readEvaluation(4)).toEqual({
    step: 4,
    sampled: [
      { task: 0, role: 'agent', success: false, return: 0, turns: 1 },
      { task: 0, role: 'agent', success: true, return: 1, turns: 1 },
    ],
    greedy: [],
  });
  expect(run.readEvaluation(5)).toBeUndefined();
  await run.close();
});

it('keeps the tokenizer, under a hash that is the same for the same words', async () => {
  const run = create();
  const hash = run.keepTokenizer({ words: ['<pad>', 'left'] });
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  expect(run.keepTokenizer({ words: ['<pad>', 'left'] })).toBe(hash);
  // A model's own file is copied as it is.
  expect(run.keepTokenizer({ model: run.path })).toBe(hash);
  await run.close();
});
