/**
 * `metrics.bin` as it lies in memory: rows are found once, and a number is read where it is, so that a chart of one metric
 * costs nothing for the sixty others. Layout: docs/rollouts.md.
 */

import { readFileSync } from 'node:fs';
import type { MetricRow } from '../../../store/metrics-file.ts';

const magic = 'TWMX';
const version = 1;
const headerBytes = 64;
const segmentMark = 2 ** 32 - 1;
const rowHeadBytes = 16;
const doubleBytes = 8;
/** Of a row's flags: its kind, which is 0 for a step, and whether a later generation replaced it. */
const kindAndReplaced = 0xff;
const segmentShift = 8;

/** The steps of a run, oldest first, without those that a later generation replaced. */
export interface MetricColumns {
  readonly steps: Float64Array;
  /** Milliseconds since 1970. */
  readonly times: Float64Array;
  /** What the numbers of each row are called: one list for all rows of a segment. */
  readonly names: readonly (readonly string[])[];
  /** Where in `numbers` those of each row begin. */
  readonly starts: readonly number[];
  readonly numbers: Float64Array;
}

/** Undefined where there is no such file, or none that this version reads whole. */
export function readColumns(path: string): MetricColumns | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    return undefined;
  }
  const known = bytes.length >= headerBytes && bytes.toString('latin1', 0, magic.length) === magic;
  if (!known || bytes.readUInt16LE(magic.length) !== version) return undefined;
  // Every row begins at a multiple of 8, if the file does.
  const whole = bytes.length - (bytes.length % doubleBytes);
  const buffer = bytes.byteOffset % doubleBytes === 0 ? bytes : Buffer.from(Uint8Array.from(bytes).buffer);
  const numbers = new Float64Array(buffer.buffer, buffer.byteOffset, whole / doubleBytes);
  const words = new Uint32Array(buffer.buffer, buffer.byteOffset, whole / 4);
  const segments: (readonly string[])[] = [];
  const [steps, names, starts]: [number[], (readonly string[])[], number[]] = [[], [], []];
  for (let at = headerBytes; at + rowHeadBytes <= bytes.length; ) {
    const [step, flags] = [words[at / 4]!, words[at / 4 + 1]!];
    const start = at + rowHeadBytes;
    if (step === segmentMark) {
      const length = words[at / 4 + 2]!;
      at = start + Math.ceil(length / doubleBytes) * doubleBytes;
      if (at > bytes.length) break;
      segments.push(namesIn(bytes.toString('utf8', start, start + length)));
      continue;
    }
    const segment = segments[flags >>> segmentShift];
    if (!segment) return undefined;
    at = start + doubleBytes * segment.length;
    // What a killed process left of a row.
    if (at > bytes.length) break;
    if ((flags & kindAndReplaced) !== 0) continue;
    steps.push(step);
    names.push(segment);
    starts.push(start / doubleBytes);
  }
  const times = Float64Array.from(starts, (start) => numbers[start - 1]!);
  return { steps: Float64Array.from(steps), times, names, starts, numbers };
}

function namesIn(json: string): readonly string[] {
  try {
    return JSON.parse(json) as readonly string[];
  } catch {
    return [];
  }
}

/** The same from rows that were read in another way. */
export function columnsOf(rows: readonly MetricRow[]): MetricColumns {
  const counted = rows.filter(({ kind, replaced }) => kind === 'step' && !replaced);
  const starts: number[] = [];
  let length = 0;
  for (const { values } of counted) {
    starts.push(length);
    length += values.length;
  }
  const numbers = new Float64Array(length);
  for (const [row, { values }] of counted.entries()) numbers.set(values, starts[row]!);
  return {
    steps: Float64Array.from(counted, ({ step }) => step),
    times: Float64Array.from(counted, ({ time }) => time),
    names: counted.map(({ names }) => names),
    starts,
    numbers,
  };
}
