import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSafetensors, type Weight } from './safetensors.ts';
import { writeSafetensors } from './write-safetensors.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'turnwise-safetensors-'));
});
afterAll(() => rm(folder, { recursive: true }));

const tensors = new Map<string, Weight>([
  ['a.weight', { shape: [2, 3], data: Float32Array.of(1, -2, 3.5, 0, 1e-30, 6) }],
  ['scalar', { shape: [], data: Float32Array.of(7) }],
  ['empty', { shape: [0, 4], data: new Float32Array(0) }],
]);

/** A file with this header and `dataBytes` zero bytes. */
function fileOf(header: unknown, dataBytes: number): Buffer {
  const json = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const start = Buffer.alloc(8);
  start.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([start, json, Buffer.alloc(dataBytes)]);
}

async function refusal(bytes: Buffer): Promise<string> {
  const path = join(folder, 'model.safetensors');
  await writeFile(path, bytes);
  return readSafetensors(path).then(
    () => 'accepted',
    (error: Error) => error.message,
  );
}

describe('safetensors', () => {
  it('come back as they were written, and no partial file stays', async () => {
    const path = join(folder, 'round.safetensors');
    await writeSafetensors(path, tensors, { step: '3' });
    const read = await readSafetensors(path);
    expect(read.tensors).toEqual(tensors);
    expect(read.metadata).toEqual({ step: '3' });
    expect(await readdir(folder)).toEqual(['round.safetensors']);
  });

  it('are laid out as the format says: header length, JSON, data from a multiple of 8 bytes', async () => {
    const path = join(folder, 'layout.safetensors');
    await writeSafetensors(path, tensors);
    const bytes = await readFile(path);
    const headerBytes = Number(bytes.readBigUInt64LE(0));
    expect(headerBytes % 8).toBe(0);
    const header = JSON.parse(bytes.toString('utf8', 8, 8 + headerBytes));
    expect(header.scalar).toEqual({ dtype: 'F32', shape: [], data_offsets: [24, 28] });
    expect(bytes.readFloatLE(8 + headerBytes + 24)).toBe(7);
    expect(bytes.length).toBe(8 + headerBytes + 28);
  });

  it('refuse what is broken, naming file and tensor', async () => {
    const entry = (more: object) => ({ w: { dtype: 'F32', shape: [2], data_offsets: [0, 8], ...more } });
    expect(await refusal(Buffer.from('abc'))).toMatchInlineSnapshot(
      `"model.safetensors: The file is cut off or is not a safetensors file. Seen: 3 bytes. Allowed: a header within the 3 bytes of the file. Copy the file again, or load another checkpoint."`,
    );
    expect(await refusal(Buffer.from('{"json": "of another kind"}'))).toMatchInlineSnapshot(
      `"model.safetensors: The file is cut off or is not a safetensors file. Seen: a header of 4189032028364743291 bytes. Allowed: a header within the 27 bytes of the file. Copy the file again, or load another checkpoint."`,
    );
    expect(await refusal(fileOf('[not json', 0))).toMatchInlineSnapshot(
      `"model.safetensors: The header is not a JSON object. Seen: "[not json". Copy the file again, or load another checkpoint."`,
    );
    expect(await refusal(fileOf(entry({ dtype: 'F64' }), 8))).toMatchInlineSnapshot(
      `"model.safetensors: Tensor w has an unsupported type. Seen: F64. Allowed: F32, F16, BF16. Copy the file again, or load another checkpoint."`,
    );
    expect(await refusal(fileOf(entry({ shape: [-2] }), 8))).toMatchInlineSnapshot(
      `"model.safetensors: Tensor w has a malformed header entry. Seen: {"dtype":"F32","shape":[-2],"data_offsets":[0,8]}. Copy the file again, or load another checkpoint."`,
    );
    expect(await refusal(fileOf(entry({ shape: [3] }), 8))).toMatchInlineSnapshot(
      `"model.safetensors: Tensor w has a length that does not fit its shape. Seen: 8 bytes. Allowed: 12 bytes for [3]. Copy the file again, or load another checkpoint."`,
    );
    expect(await refusal(fileOf(entry({}), 6))).toMatchInlineSnapshot(
      `"model.safetensors: Tensor w ends beyond the end of the file. Seen: offset 8. Allowed: at most 6. Copy the file again, or load another checkpoint."`,
    );
    expect(await refusal(fileOf(entry({}), 12))).toMatchInlineSnapshot(
      `"model.safetensors: The file has bytes that belong to no tensor. Seen: 12 bytes of data. Allowed: 8. Copy the file again, or load another checkpoint."`,
    );
    await expect(readSafetensors(join(folder, 'absent.safetensors'))).rejects.toMatchObject({
      code: 'checkpoint-missing',
    });
  });
});
