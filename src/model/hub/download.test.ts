import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { download } from './download.ts';

/** Longer than a connection of this machine to itself needs to bring some bytes and to break. */
const slowDiskMs = 100;

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>();
  const open: typeof real.open = async (...file) => {
    await new Promise((resolve) => setTimeout(resolve, slowDiskMs));
    return real.open(...file);
  };
  return { ...real, open };
});

const content = randomBytes(300_000);
const asked: string[] = [];
const server = createServer((request, response) => {
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
  asked.push(request.headers.range ?? 'all');
  response.writeHead(from > 0 ? 206 : 200, { 'content-length': content.length - from });
  response.write(content.subarray(from, from + 70_000), () => response.socket?.end());
});
const folder = mkdtempSync(join(tmpdir(), 'turnwise-download-'));

beforeAll(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const start = (path: string) => {
  const progress: number[] = [];
  const done = download({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    headers: {},
    secrets: {},
    path,
    bytes: content.length,
    checksum: createHash('sha256').update(content).digest('hex'),
    subject: 'model.safetensors of owner/name',
    signal: new AbortController().signal,
    onBytes: (bytes) => progress.push(bytes),
    refused: (response) => {
      throw new Error(String(response.status));
    },
    // One attempt without a new byte ends it.
    patience: { attempts: 1, waitMs: 1, silenceMs: 5_000 },
  });
  return { progress, done };
};

test('what arrived before the connection broke is kept, however slow the disk is', async () => {
  const { progress, done } = start(join(folder, 'model.safetensors'));
  await done;
  expect(readFileSync(join(folder, 'model.safetensors')).equals(content)).toBe(true);
  expect(asked.length).toBeGreaterThan(4);
  for (const range of asked.slice(1)) expect(range).toMatch(/^bytes=[1-9]\d+-$/);
  expect(progress).toEqual([...progress].sort((a, b) => a - b));
});

test('a folder that cannot be written is an error that says so', async () => {
  const { done } = start(join(folder, 'missing', 'model.safetensors'));
  await expect(done).rejects.toThrow(/The disk refused a write\. Seen: ENOENT while writing/);
});
