import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { exampleEvents, timed, writeExampleRun } from '../cli/example-run.test-helper.ts';
import { measuredAt, type RunRecord, readRun, runningSeconds } from './run-record.ts';

const root = mkdtempSync(join(tmpdir(), 'run-record-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test('what evaluations measure is read where the budget ends, along the line between them', async () => {
  await writeExampleRun(root, 'lake');
  const run = readRun(root, 'lake')!;
  expect(measuredAt(run, 'turns', { axis: 'episodes', end: 1024 })).toBe(5.25);
  expect(measuredAt(run, 'env/errors', { axis: 'episodes', end: 1024 })).toBeUndefined();
  const errors = [undefined, 3, 1];
  const points = run.points.map((point, index) => {
    const value = errors[index];
    return value === undefined ? point : { ...point, measured: { 'env/errors': value } };
  });
  const record: RunRecord = { ...run, points };
  const at = (end: number) => measuredAt(record, 'env/errors', { axis: 'episodes', end });
  expect([at(1024), at(768), at(512)]).toEqual([1, 2, 3]);
});

test('the spread of a metric is its deviation over the steps that have it', async () => {
  await writeExampleRun(root, 'spread');
  const run = readRun(root, 'spread')!;
  const entropies = [0.5, undefined, 0.3, 0.1];
  const steps = entropies.map((entropy, step) => ({
    ...run.steps[0]!,
    step,
    metrics: entropy === undefined ? {} : { 'policy/entropy': entropy },
  }));
  const over = (some: typeof steps) =>
    measuredAt({ ...run, steps: some }, 'spread/policy/entropy', { axis: 'episodes', end: 1024 });
  expect(over(steps)).toBeCloseTo(0.2, 12);
  expect(over(steps.slice(0, 2))).toBeUndefined();
});

test('a run takes the time in which it runs: an hour before it is resumed is not its own', () => {
  const events = timed(exampleEvents());
  expect(runningSeconds(events)).toBe(9);
  const [first, second] = [events.slice(0, 5), events.slice(5)];
  const later = (of: string, seconds: number): string =>
    new Date(Date.parse(of) + seconds * 1000).toISOString();
  const resumed = [
    ...first,
    { type: 'resume' as const, step: 2, time: later(first.at(-1)!.time, 3600) },
    ...second.map((event) => ({ ...event, time: later(event.time, 3600) })),
  ];
  expect(runningSeconds(resumed)).toBe(9);
  expect(runningSeconds([])).toBe(0);
});
