import { appendFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { EventTail } from './event-tail.ts';
import { readEventFile } from './log-lines.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-tail-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const time = '2026-01-01T00:00:00.000Z';
const line = (event: object): string => `${JSON.stringify({ ...event, time })}\n`;
const step = (number: number, more: object = {}): string =>
  line({ type: 'step', step: number, steps: 9, metrics: { a: number }, ...more });

function fresh(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

test('all lines are those of the whole file, wherever it was cut in between', () => {
  const content = Buffer.from(
    line({ type: 'start', generation: 1 }) +
      step(1) +
      'no event\n\n' +
      line({ type: 'warning', code: 'ü', message: '🙂' }) +
      step(2) +
      line({ type: 'resume', step: 1, generation: 2, keeps: 40, from: 1 }),
  );
  const path = fresh('all', '');
  const tail = new EventTail(path);
  const seen = [];
  for (let at = 0; at < content.length; at += 37) {
    appendFileSync(path, content.subarray(at, at + 37));
    seen.push(...tail.next(true).lines);
  }
  const whole = readEventFile(path);
  expect(seen).toEqual(whole.lines.map(({ event, end }) => ({ event, end })));
  expect(tail.generations).toEqual(whole.generations);
  expect(tail.damaged).toBe(1);
  expect(tail.offset).toBe(content.length);
  // From the end of any line, only what follows.
  const { end } = seen[2]!;
  expect(new EventTail(path, end).next(true).lines).toEqual(seen.slice(3));
});

test('of lines that are only metrics, the last of a call is enough, in its place', () => {
  const path = fresh('last', step(1) + step(2) + step(3) + line({ type: 'phase', phase: 'finish' }));
  const tail = new EventTail(path);
  expect(tail.next().lines.map(({ event }) => [event.type, 'step' in event ? event.step : 0])).toEqual([
    ['step', 3],
    ['phase', 0],
  ]);
  appendFileSync(path, step(4, { keeps: 10, from: 0, generation: 2 }) + step(5));
  expect(tail.next().lines.map(({ event }) => 'step' in event && event.step)).toEqual([4, 5]);
  expect(tail.generations).toEqual([{ generation: 2, from: 0 }]);
});

test('a file that was replaced or cut is told, and read anew', () => {
  const path = fresh('replaced', step(1) + step(2));
  const tail = new EventTail(path);
  tail.next();
  writeFileSync(path, step(7));
  expect(tail.next()).toMatchObject({ restarted: true, lines: [{ event: { step: 7 } }] });
  renameSync(fresh('other', step(8) + step(9)), path);
  expect(tail.next(true)).toMatchObject({
    restarted: true,
    lines: [{ event: { step: 8 } }, { event: { step: 9 } }],
  });
  rmSync(path);
  expect(tail.next()).toEqual({ restarted: false, lines: [] });
});

test('a line longer than a chunk is read over, not for ever', () => {
  const path = fresh('long', `${'x'.repeat(9 * 2 ** 20)}\n${step(3)}`);
  const tail = new EventTail(path);
  expect(tail.next().lines.map(({ event }) => event)).toMatchObject([{ type: 'step', step: 3 }]);
  expect(tail.offset).toBe(readFileSync(path).length);
});
