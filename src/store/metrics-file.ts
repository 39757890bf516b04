/**
 * `metrics.bin`: the numbers of `events.jsonl` as rows of binary doubles, since parsing the log takes a second where this
 * takes milliseconds. Derived: written as events come, and made anew from the log. Layout: docs/rollouts.md.
 */

import { existsSync, readFileSync } from 'node:fs';
import type { Disk } from './disk.ts';
import { type LogLine, readEventFile, type TimedEvent } from './log-lines.ts';

const magic = 'TWMX';
const version = 1;
const headerBytes = 64;
/** In the place of a row's step: the names of a segment follow. */
const segmentMark = 2 ** 32 - 1;
const rowHeadBytes = 16;

export type MetricKind = 'step' | 'clone' | 'before' | 'during' | 'after';
/** By their number in the file. The last three are evaluations. */
const KINDS: readonly MetricKind[] = ['step', 'clone', 'before', 'during', 'after'];
const kindBits = 7;
const replacedBit = 128;
const segmentShift = 8;

export interface MetricRow {
  readonly kind: MetricKind;
  readonly step: number;
  /** A later generation went on from before it. */
  readonly replaced: boolean;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly names: readonly string[];
  readonly values: Float64Array;
}

/** Writes the file of a run that goes on. */
export class MetricsFile {
  readonly #path: string;
  readonly #eventsPath: string;
  readonly #disk: Disk;
  /** Undefined until something is written: what an earlier process left is first made anew. */
  #segments: Map<string, number> | undefined;

  constructor(path: string, eventsPath: string, disk: Disk) {
    this.#path = path;
    this.#eventsPath = eventsPath;
    this.#disk = disk;
  }

  /** Add the numbers of an event that was just stored. */
  add(event: TimedEvent): void {
    if (!this.#segments || event.keeps !== undefined) {
      this.rebuild();
      return;
    }
    const segments = this.#segments;
    // Only whole rows may be followed by others.
    this.#segments = undefined;
    const bytes = encode({ event, end: 0, replaced: false }, segments);
    if (bytes) this.#disk.append(this.#path, bytes);
    this.#segments = segments;
  }

  /** Make the file anew from the log. */
  rebuild(): void {
    const segments = new Map<string, number>();
    const { lines } = readEventFile(this.#eventsPath);
    const rows = lines.flatMap((line) => encode(line, segments) ?? []);
    this.#disk.replaceFile(this.#path, Buffer.concat([header(), ...rows]));
    this.#segments = segments;
  }
}

/** The rows of a run, oldest first; from the log where there is no file that this version reads. */
export function readMetrics(path: string, eventsPath: string): MetricRow[] {
  const stored = existsSync(path) ? decode(readFileSync(path)) : undefined;
  if (stored) return stored;
  const segments = new Map<string, number>();
  const rows = readEventFile(eventsPath).lines.flatMap((line) => encode(line, segments) ?? []);
  return decode(Buffer.concat([header(), ...rows]))!;
}

/** One metric over the rows that count and have it. */
export function seriesOf(
  rows: readonly MetricRow[],
  name: string,
  kind: MetricKind = 'step',
): { step: number; time: number; value: number }[] {
  return rows.flatMap(({ names, values, step, time, replaced, ...row }) => {
    const place = row.kind === kind && !replaced ? names.indexOf(name) : -1;
    return place < 0 ? [] : [{ step, time, value: values[place]! }];
  });
}

function header(): Buffer {
  const bytes = Buffer.alloc(headerBytes);
  bytes.write(magic, 'latin1');
  bytes.writeUInt16LE(version, 4);
  bytes.writeBigUInt64LE(BigInt(Date.now()), 8);
  return bytes;
}

/** A row, after the names of its segment where they are new; nothing for an event without numbers. */
function encode({ event, replaced }: LogLine, segments: Map<string, number>): Buffer | undefined {
  const numbers = numbersOf(event);
  if (!numbers) return undefined;
  const { kind, step, fields } = numbers;
  const names = JSON.stringify(fields.map(([name]) => name));
  const parts: Buffer[] = [];
  let segment = segments.get(names);
  if (segment === undefined) {
    segment = segments.size;
    segments.set(names, segment);
    parts.push(segmentHead(names, fields.length));
  }
  const row = Buffer.alloc(rowHeadBytes + 8 * fields.length);
  row.writeUInt32LE(step, 0);
  const flags = KINDS.indexOf(kind) | (replaced ? replacedBit : 0);
  row.writeUInt32LE(((segment << segmentShift) | flags) >>> 0, 4);
  row.writeDoubleLE(Date.parse(event.time), 8);
  for (const [index, [, value]] of fields.entries()) row.writeDoubleLE(value, rowHeadBytes + 8 * index);
  parts.push(row);
  return Buffer.concat(parts);
}

/** The mark, how many names, their bytes, nothing; then the names as JSON, filled up with spaces to a multiple of 8. */
function segmentHead(names: string, count: number): Buffer {
  const text = Buffer.from(names);
  const bytes = Buffer.alloc(rowHeadBytes + Math.ceil(text.length / 8) * 8, ' ');
  for (const [index, value] of [segmentMark, count, text.length, 0].entries()) {
    bytes.writeUInt32LE(value, 4 * index);
  }
  text.copy(bytes, rowHeadBytes);
  return bytes;
}

/** Undefined where these are not the bytes of such a file. What a killed process left of a row is not read. */
function decode(bytes: Buffer): MetricRow[] | undefined {
  const known = bytes.length >= headerBytes && bytes.toString('latin1', 0, 4) === magic;
  if (!known || bytes.readUInt16LE(4) !== version) return undefined;
  const segments: (readonly string[])[] = [];
  const rows: MetricRow[] = [];
  for (let at = headerBytes; at + rowHeadBytes <= bytes.length; ) {
    const step = bytes.readUInt32LE(at);
    const flags = bytes.readUInt32LE(at + 4);
    if (step === segmentMark) {
      const length = bytes.readUInt32LE(at + 8);
      const start = at + rowHeadBytes;
      at = start + Math.ceil(length / 8) * 8;
      if (at > bytes.length) break;
      segments.push(JSON.parse(bytes.toString('utf8', start, start + length)) as string[]);
      continue;
    }
    const names = segments[flags >>> segmentShift];
    if (!names) return undefined;
    const start = at + rowHeadBytes;
    at = start + 8 * names.length;
    if (at > bytes.length) break;
    rows.push({
      kind: KINDS[flags & kindBits] ?? 'step',
      step,
      replaced: (flags & replacedBit) !== 0,
      time: bytes.readDoubleLE(start - 8),
      names,
      values: Float64Array.from(names, (_, index) => bytes.readDoubleLE(start + 8 * index)),
    });
  }
  return rows;
}

interface Numbers {
  readonly kind: MetricKind;
  readonly step: number;
  readonly fields: readonly (readonly [string, number])[];
}

/** What of an event is a number: metrics by their paths, fields of evaluations as `sampled/success` and so on. */
function numbersOf(event: TimedEvent): Numbers | undefined {
  switch (event.type) {
    case 'step':
    case 'clone': {
      const { type, step, metrics, steps: _, generation: _g, keeps: _k, from: _f, time: _t, ...rest } = event;
      return { kind: type, step, fields: [...flatten(metrics), ...flatten(rest)] };
    }
    case 'evaluation': {
      const { type: _, step, label, generation: _g, keeps: _k, from: _f, time: _t, ...rest } = event;
      return { kind: label, step, fields: flatten(rest) };
    }
    default:
      return undefined;
  }
}

function flatten(value: unknown, path = ''): [string, number][] {
  if (typeof value === 'number') return [[path, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) =>
    flatten(field, path === '' ? name : `${path}/${name}`),
  );
}
