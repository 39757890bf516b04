import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { afterAll, expect, test } from 'vitest';
import { madeEvents, sinkRun, tellAll } from '../made-run.test-helper.ts';
import { Message } from '../message.ts';
import { crc32c, eventRecord, maskedCrc } from './event-file.ts';
import { scalar } from './summaries.ts';
import { bucketsOf, tensorboard } from './tensorboard.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-tensorboard-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

test('checksums are those of the Castagnoli polynomial, masked', () => {
  const digits = Buffer.from('123456789');
  expect(crc32c(digits)).toBe(0xe3069283);
  expect(maskedCrc(digits)).toBe(0xc78ab0e5);
});

test('records and summaries have the bytes that TensorBoard itself writes', () => {
  // Recorded from EventFileWriter of TensorBoard 2.21.0.
  expect(hex(eventRecord(1700000000.5, (event) => event.text(3, 'brain.Event:2')))).toBe(
    '1800000000000000a37f4b2209000020' + '40fc54d9411a0d627261696e2e4576656e743a322b353110',
  );
  const summary = new Message();
  scalar(summary, 'reward/mean', 0.25);
  expect(hex(summary.finish()).slice(4)).toBe(
    `0a0b${hex(Buffer.from('reward/mean'))}420a080112002a040000803e4a0d0a090a07${hex(Buffer.from('scalars'))}2001`,
  );
});

/** The data of each record, with its checksums checked; what is cut is left out. */
function records(path: string): Uint8Array[] {
  const bytes = readFileSync(path);
  const found: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = Number(bytes.readBigUInt64LE(at));
    expect(bytes.readUInt32LE(at + 8)).toBe(maskedCrc(bytes.subarray(at, at + 8)));
    const data = bytes.subarray(at + 12, at + 12 + length);
    expect(bytes.readUInt32LE(at + 12 + length)).toBe(maskedCrc(data));
    found.push(data);
    at += 16 + length;
  }
  return found;
}

/** Step, and whether the session starts, of an event. */
function readEvent(data: Uint8Array): { step: number; starts: boolean; text: string } {
  const reader = new BinaryReader(data);
  const event = { step: 0, starts: false, text: Buffer.from(data).toString('latin1') };
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 2) event.step = Number(reader.int64());
    else {
      if (field === 7) event.starts = true;
      reader.skip(type);
    }
  }
  return event;
}

test('a resumed run begins a later file, from the step that it takes again', async () => {
  const sink = tensorboard(folder);
  await tellAll(sink);
  void sink.close?.('stopped');
  const resumed = tensorboard(folder);
  void resumed.open?.(sinkRun(1, madeEvents.slice(0, 4)));
  void resumed.event(madeEvents.at(-1)!);
  const [first, second] = readdirSync(join(folder, 'made'))
    .filter((name) => name.startsWith('events'))
    .sort()
    .map((name) => records(join(folder, 'made', name)).map(readEvent));
  expect(first!.filter(({ starts }) => starts).map(({ step }) => step)).toEqual([0]);
  expect(second!.filter(({ starts }) => starts).map(({ step }) => step)).toEqual([2]);
  const steps = first!.filter(({ text }) => text.includes('reward/mean')).map(({ step }) => step);
  expect(steps).toEqual([1, 2]);
  expect(first!.filter(({ text }) => text.includes('    # no heading'))).toHaveLength(1);
  expect(first!.some(({ text }) => text.includes('optimizer.learningRate'))).toBe(true);
  expect(readdirSync(join(folder, 'made', 'clone'))).toHaveLength(1);
});

test('buckets cover all values once', () => {
  expect(bucketsOf([1, 1])).toEqual([[1, 1, 2]]);
  const buckets = bucketsOf([0, 0.1, 3, 3]);
  expect([buckets[0]![0], buckets.at(-1)![1]]).toEqual([0, 3]);
  expect(buckets.map(([, , count]) => count).filter((count) => count > 0)).toEqual([1, 1, 2]);
});
