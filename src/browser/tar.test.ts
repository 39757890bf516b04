import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tarOf } from './tar.ts';

test('tar unpacks what was packed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnwise-tar-'));
  try {
    const files = [0, 1, 511, 512, 513, 100_000].map((length) => ({
      path: `run/files/${length}`,
      bytes: Uint8Array.from({ length }, (_, index) => (index * 7 + length) % 256),
    }));
    writeFileSync(join(folder, 'run.tar'), tarOf(files, 1_700_000_000));
    execFileSync('tar', ['-xf', 'run.tar'], { cwd: folder });
    for (const { path, bytes } of files)
      expect(Buffer.compare(readFileSync(join(folder, path)), bytes), path).toBe(0);
    const listed = execFileSync('tar', ['-tvf', 'run.tar'], {
      cwd: folder,
      encoding: 'utf8',
      env: { TZ: 'UTC' },
    });
    expect(listed.split('\n')[5]).toMatch(/^-rw-r--r--.* 100000 2023-11-14 .*run\/files\/100000$/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('a path that has no room is refused', () => {
  expect(() => tarOf([{ path: 'a'.repeat(101), bytes: new Uint8Array(0) }], 0)).toThrow('too long');
});
