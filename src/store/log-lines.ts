/**
 * `events.jsonl` as it is read: one JSON object a line, in a file that only ever grows. An event with `keeps` begins a
 * generation: of the bytes before it only the first `keeps` still count. A killed process leaves a line unfinished.
 */

import { existsSync, readFileSync } from 'node:fs';
import { TurnwiseError } from '../core/errors.ts';
import { exactNumber } from '../core/json/exact-json.ts';
import type { StoredEvent } from '../train/loop/events.ts';
import type { Generation } from './generations.ts';

/** An event as it is stored. */
export type TimedEvent = StoredEvent & {
  /** When it was written (ISO 8601). */
  readonly time: string;
  /** Of the run, from 1: on `start` and `resume`, and on the first event of a generation. */
  readonly generation?: number;
  /** On the first event of a later generation: how many bytes of the log before it still count. */
  readonly keeps?: number;
  /** With `keeps`: step of the checkpoint that the generation went on from; −1 where it began from nothing. */
  readonly from?: number;
};

export interface LogLine {
  readonly event: TimedEvent;
  /** Bytes from the start of the file to the end of the line. */
  readonly end: number;
  /** A later generation went on from before it. */
  readonly replaced: boolean;
}

export interface EventFile {
  readonly lines: readonly LogLine[];
  /** Lines that are no events, by their number from 1; none that a later generation left behind. */
  readonly damaged: readonly { readonly line: number; readonly text: string }[];
  readonly generations: readonly Generation[];
  /** Bytes of the file, and of it up to the end of its last whole line. */
  readonly bytes: number;
  readonly wholeBytes: number;
}

/** Everything that a log holds. */
export function readEventFile(path: string): EventFile {
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  const lines: { event: TimedEvent; end: number; replaced: boolean }[] = [];
  const generations: Generation[] = [];
  let damaged: { line: number; text: string }[] = [];
  let start = 0;
  for (let number = 1; ; number++) {
    const end = bytes.indexOf(0x0a, start) + 1;
    if (end === 0) break;
    const text = bytes.toString('utf8', start, end - 1);
    start = end;
    if (text === '') continue;
    const event = parseEvent(text);
    if (!event) {
      damaged.push({ line: number, text });
      continue;
    }
    const { keeps, generation, from = -1 } = event;
    if (keeps !== undefined) {
      damaged = [];
      for (let index = lines.length - 1; index >= 0 && lines[index]!.end > keeps; index--) {
        lines[index]!.replaced = true;
      }
    }
    if (generation !== undefined && generation !== generations.at(-1)?.generation) {
      generations.push({ generation, from });
    }
    lines.push({ event, end, replaced: false });
  }
  return { lines, damaged, generations, bytes: bytes.length, wholeBytes: start };
}

/**
 * The events that count, oldest first: without what the last resume replaced, and without an unfinished last line.
 *
 * @throws TurnwiseError `events-corrupt` where a whole line is not JSON
 */
export function readEvents(path: string): TimedEvent[] {
  const { lines, damaged } = readEventFile(path);
  const [first] = damaged;
  if (first) {
    throw new TurnwiseError('events-corrupt', {
      what: 'The event log of this run has a line that is not JSON',
      seen: `${path}, line ${first.line}: ${first.text.slice(0, 60)}`,
      next: 'Restore the file, or delete that line if the rest is wanted for reading only',
      fields: { path, line: first.line },
    });
  }
  return lines.flatMap(({ event, replaced }) => (replaced ? [] : [event]));
}

/** The event that a line is; undefined where it is none. */
export function parseEvent(text: string): TimedEvent | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || !('type' in value)) return undefined;
  const event = value as TimedEvent;
  if (!('metrics' in event) || typeof event.metrics !== 'object' || event.metrics === null) return event;
  // Only here are strings for numbers: a metric may be NaN.
  const metrics = Object.entries(event.metrics).map(([name, metric]) => [
    name,
    exactNumber(metric) ?? metric,
  ]);
  return { ...event, metrics: Object.fromEntries(metrics) as typeof event.metrics };
}
