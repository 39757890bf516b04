/** The columns of a run's metrics against the rows that the store reads, and the places of a run against all of its index. */

import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { version } from '../../../run/version.ts';
import { readMetrics } from '../../../store/metrics-file.ts';
import { RolloutReader } from '../../../store/rollouts/rollout-reader.ts';
import { makeViewRuns } from '../../testing/view-runs.ts';
import { WatchedRun } from '../watched-run.ts';
import { columnsOf, type MetricColumns, readColumns } from './metric-columns.ts';
import { placesIn } from './stored-places.ts';

const root = mkdtempSync(join(tmpdir(), 'turnwise-columns-'));
const lake = join(root, 'lake');
const metrics = join(lake, 'metrics.bin');

beforeAll(() => makeViewRuns(root), 120_000);
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Each step with its numbers by name. */
function told({ steps, times, names, starts, numbers }: MetricColumns): unknown[] {
  return names.map((list, row) => [
    ...[steps[row], times[row]],
    Object.fromEntries(list.map((name, place) => [name, numbers[starts[row]! + place]])),
  ]);
}

test('columns hold the steps that count, also of a file that a killed process left', () => {
  const rows = readMetrics(metrics, join(lake, 'events.jsonl'));
  const columns = readColumns(metrics)!;
  expect(columns.steps.length).toBe(3);
  expect(told(columns)).toEqual(told(columnsOf(rows)));
  const cut = join(root, 'cut.bin');
  writeFileSync(cut, readFileSync(metrics));
  truncateSync(cut, readFileSync(metrics).length - 20);
  expect(told(readColumns(cut)!)).toEqual(told(columns));
  // The last row is that of an evaluation. Without any, there are no steps.
  truncateSync(cut, 64 + 11);
  expect(readColumns(cut)!.steps.length).toBe(0);
  writeFileSync(cut, 'TWMX\u0002\u0000 a later version, with a header of sixty-four bytes at the least');
  expect(readColumns(cut)).toBeUndefined();
  expect(readColumns(join(root, 'nothing.bin'))).toBeUndefined();
});

test('places are those of the whole index, or unknown where it lacks episodes', () => {
  for (const name of ['lake', 'bare', 'damaged']) {
    const run = new WatchedRun(root, name, version);
    const { index } = RolloutReader.open(run.rolloutsPath);
    const { steps, evaluationSteps } = run.places();
    expect([name, steps]).toEqual([name, index.steps()]);
    expect([name, evaluationSteps]).toEqual([name, index.evaluationSteps()]);
  }
  const { rolloutsPath, indexPath } = new WatchedRun(root, 'lake', version);
  expect(placesIn(rolloutsPath, indexPath)).toBeDefined();
  // A file that the index does not know, and episodes at the end of the last one that it does not.
  const unknown = join(rolloutsPath, '77.jsonl.gz');
  writeFileSync(unknown, readFileSync(join(rolloutsPath, '1.jsonl.gz')));
  expect(placesIn(rolloutsPath, indexPath)).toBeUndefined();
  rmSync(unknown);
  truncateSync(indexPath, readFileSync(indexPath).length - 64);
  expect(placesIn(rolloutsPath, indexPath)).toBeUndefined();
});
