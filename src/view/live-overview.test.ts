/** What a page makes of events that come while it is open, against what the server makes of the whole log. */

import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { version } from '../run/version.ts';
import { parseEvent, type TimedEvent } from '../store/log-lines.ts';
import { withEvents, withStored } from './live-overview.ts';
import { IndexTail } from './server/files/index-tail.ts';
import { overviewOf } from './server/overview.ts';
import { RunsFolder } from './server/runs-folder.ts';
import type { RunOverview } from './shapes.ts';
import { makeViewRuns } from './testing/view-runs.ts';

const root = mkdtempSync(join(tmpdir(), 'turnwise-live-'));
beforeAll(() => makeViewRuns(root), 120_000);
afterAll(() => rmSync(root, { recursive: true, force: true }));

function overview(name: string): RunOverview {
  const folder = new RunsFolder({ root, version });
  return overviewOf(folder, folder.find(name));
}

test('events after an overview give the next one, with failures and metrics that nobody measured before', () => {
  cpSync(join(root, 'lake'), join(root, 'early'), { recursive: true });
  const path = join(root, 'early', 'events.jsonl');
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  const first = lines.findIndex((line) => line.startsWith('{"type":"step"')) + 1;
  const later = lines.slice(first).map((line) => {
    const event = parseEvent(line)!;
    if (event.type !== 'step' || event.step !== 3) return event;
    const metrics = { ...event.metrics, 'stop/failed:tool': 2, 'zz/new': 1, 'policy/kl': Number.NaN };
    return { ...event, metrics } satisfies TimedEvent;
  });
  // Without the table of metrics: the log is what both read.
  rmSync(join(root, 'early', 'metrics.bin'));
  const text = (events: readonly string[]): string => events.map((line) => `${line}\n`).join('');
  writeFileSync(path, text(lines.slice(0, first)));
  const before = overview('early');
  expect(before.history.step).toBe(1);
  writeFileSync(
    path,
    text([
      ...lines.slice(0, first),
      ...later.map((event) => JSON.stringify(event, (_, value) => (Number.isNaN(value) ? 'NaN' : value))),
    ]),
  );
  const after = overview('early');
  expect(after.failed).toEqual({ tool: 2 });
  expect(after.latest['policy/kl']).toBe(null);
  expect(after.metrics).toContain('zz/new');
  // Whether it has ended is asked for.
  expect(withEvents(before, later)).toEqual({
    ...after,
    state: before.state,
    offset: before.offset,
  });
});

test('the index tells which steps were added to it, each once, and says when it is another', () => {
  cpSync(join(root, 'lake'), join(root, 'growing'), { recursive: true });
  const path = join(root, 'growing', 'rollouts', 'index.bin');
  const whole = readFileSync(path);
  const records = (whole.length - 64) / 64;
  const tail = new IndexTail(path);
  // Half of it, and a record that is not finished.
  truncateSync(path, 64 + 64 * Math.floor(records / 2) + 30);
  expect(tail.next()).toBeDefined();
  expect(tail.next()).toBeUndefined();
  writeFileSync(path, whole);
  const { steps = [], evaluations = [] } = tail.next()!;
  const all = overview('growing');
  expect(all.stored).toEqual(expect.arrayContaining([...steps]));
  expect(all.evaluated).toEqual(expect.arrayContaining([...evaluations]));
  expect([steps.at(-1), evaluations.at(-1)]).toEqual([3, 3]);
  expect(
    withStored({ ...all, stored: [1], evaluated: [0] }, { steps: [3, 2], evaluations: [3] }),
  ).toMatchObject({ stored: [1, 2, 3], evaluated: [0, 3] });
  expect(tail.next()).toBeUndefined();
  truncateSync(path, 64);
  expect(tail.next()).toEqual({});
  expect(new IndexTail(join(root, 'nothing')).next()).toBeUndefined();
});
