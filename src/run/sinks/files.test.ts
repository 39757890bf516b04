import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { TimedEvent } from '../../store/log-lines.ts';
import { csv } from './csv.ts';
import { jsonLines } from './json-lines.ts';
import type { SinkRun } from './sink.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-sinks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const runFrom = (kept: number) => ({ run: 'r', folder, generation: 1, kept }) as unknown as SinkRun;

const stepEvent = (step: number, metrics: Record<string, number>) =>
  ({ type: 'step', step, steps: 3, metrics, time: 't' }) as unknown as TimedEvent;

test('a table grows by columns, and by the rows that a resumed run takes again', () => {
  const path = join(folder, 'new', 'metrics.csv');
  const sink = csv(path);
  const rows = (): string[] => readFileSync(path, 'utf8').trim().split('\n');
  void sink.open?.(runFrom(0));
  void sink.event(stepEvent(1, { 'reward/mean': 0.5 }));
  void sink.event({ type: 'phase', phase: 'train', time: 't' });
  void sink.event(stepEvent(2, { 'reward/mean': 0.25, 'policy/kl': 1 }));
  expect(rows()).toEqual(['step,event,reward/mean,policy/kl', '1,step,0.5', '2,step,0.25,1']);

  const resumed = csv(path);
  void resumed.open?.(runFrom(1));
  void resumed.event(stepEvent(2, { 'policy/kl': 2 }));
  expect(rows()).toEqual(['step,event,reward/mean,policy/kl', '1,step,0.5', '2,step,,2']);

  void csv(path).open?.(runFrom(0));
  expect(rows()).toEqual(['step,event']);
});

test('lines are appended', () => {
  const path = join(folder, 'deep', 'events.jsonl');
  for (const step of [1, 2]) {
    const sink = jsonLines(path);
    void sink.open?.(runFrom(0));
    void sink.event(stepEvent(step, { x: Number.NaN }));
  }
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { step: number }).step)).toEqual([1, 2]);
  expect(lines[0]).toContain('"NaN"');
});
