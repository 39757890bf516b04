import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { madeEvents, sinkRun, tellAll } from '../made-run.test-helper.ts';
import { wandb } from './wandb.ts';
import { logParts } from './wandb-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-wandb-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Records out of blocks, with their checksums checked. */
function records(bytes: Buffer, at = 7): Buffer[] {
  const found: Buffer[] = [];
  let parts: Buffer[] = [];
  for (let position = at; position < bytes.length; ) {
    const left = 32768 - (position % 32768);
    if (left < 7) {
      position += left;
      continue;
    }
    const length = bytes.readUInt16LE(position + 4);
    const type = bytes.readUInt8(position + 6);
    const data = bytes.subarray(position + 7, position + 7 + length);
    expect(bytes.readUInt32LE(position)).toBe(crc32(Buffer.concat([Uint8Array.of(type), data])));
    parts.push(data);
    if (type === 1 || type === 4) {
      found.push(Buffer.concat(parts));
      parts = [];
    }
    position += 7 + length;
  }
  expect(parts).toEqual([]);
  return found;
}

test('records are cut at blocks of 32 KiB, wherever they begin', () => {
  for (const at of [7, 32768 - 8, 32768 - 7, 32768 - 6, 32768 - 3, 32768]) {
    for (const length of [0, 1, 100, 32761, 32762, 70_000]) {
      const data = Buffer.alloc(length, 'abcdefg');
      const bytes = Buffer.concat([Buffer.alloc(at), logParts(data, at)]);
      expect(records(bytes, at).map((one) => one.equals(data))).toEqual([true]);
    }
  }
});

function onlyFile(): string {
  const run = readdirSync(join(folder, 'wandb')).filter((name) => name.startsWith('offline-run-'));
  expect(run).toHaveLength(1);
  return join(folder, 'wandb', run[0]!, `run-${run[0]!.split('-').at(-1)}.wandb`);
}

const rowsOf = (path: string): string[] =>
  records(readFileSync(path))
    .map((record) => record.toString('latin1'))
    .filter((text) => /_step/.test(text) && /_runtime/.test(text))
    .filter((_, index) => index % 2 === 0);

test('a run is a folder that is made once, and anew where it goes on', async () => {
  const sink = wandb({ folder, project: 'p' });
  await tellAll(sink);
  void sink.close?.('stopped');
  const path = onlyFile();
  expect(readFileSync(path).subarray(0, 7).toString('hex')).toBe('3a572642e1be00');
  expect(rowsOf(path)).toHaveLength(4);
  expect(rowsOf(path)[3]).toContain('NaN');

  const resumed = wandb({ folder, project: 'p' });
  void resumed.open?.(sinkRun(1, madeEvents.slice(0, 4)));
  expect(onlyFile()).toBe(path);
  expect(rowsOf(path)).toHaveLength(3);

  writeFileSync(`${path}.synced`, '');
  const later = wandb({ folder, project: 'p' });
  void later.open?.(sinkRun(1, madeEvents.slice(0, 4)));
  void later.event(madeEvents.at(-1)!);
  const paths = readdirSync(join(folder, 'wandb')).sort();
  expect(paths).toHaveLength(2);
  expect(new Set(paths.map((name) => name.split('-').at(-1))).size).toBe(1);
  const [other] = paths.filter((name) => !path.includes(name));
  const rows = rowsOf(join(folder, 'wandb', other!, `run-${other!.split('-').at(-1)}.wandb`));
  expect(rows).toHaveLength(1);
});
