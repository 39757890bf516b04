/** Files as a tar archive (POSIX ustar) and back, for downloads of checkpoints. */

import { garbled } from './garbled.ts';

export interface ArchivedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const block = 512;

export function tarOf(files: readonly ArchivedFile[]): Buffer {
  const parts = files.flatMap(({ name, bytes }) => [
    header(name, bytes.length),
    bytes,
    Buffer.alloc((block - (bytes.length % block)) % block),
  ]);
  return Buffer.concat([...parts, Buffer.alloc(2 * block)]);
}

function header(name: string, size: number): Buffer {
  const bytes = Buffer.alloc(block);
  const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, '0')}\0`;
  bytes.write(name, 0);
  bytes.write(octal(0o644, 8), 100);
  bytes.write(octal(0, 8), 108);
  bytes.write(octal(0, 8), 116);
  bytes.write(octal(size, 12), 124);
  bytes.write(octal(0, 12), 136);
  bytes.write('        ', 148);
  bytes.write('0', 156);
  bytes.write('ustar\0', 257);
  bytes.write('00', 263);
  const checksum = bytes.reduce((sum, byte) => sum + byte, 0);
  bytes.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148);
  return bytes;
}

/**
 * The files of an archive, in its order, each under the last part of its name: folders, links and whatever else are left out.
 *
 * @throws TurnwiseError `tinker-garbled` for an archive that is cut short or whose lengths are no numbers
 */
export function filesOf(archive: Uint8Array): ArchivedFile[] {
  const files: ArchivedFile[] = [];
  const text = (from: number, width: number): string =>
    Buffer.from(archive.subarray(from, from + width))
      .toString('utf8')
      .replace(/\0.*$/s, '');
  for (let at = 0; at + block <= archive.length && archive[at] !== 0; ) {
    const digits = text(at + 124, 12).trim();
    const size = /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number.NaN;
    const from = at + block;
    if (!(from + size <= archive.length))
      throw garbled('an archive is cut short', `${digits} bytes announced, ${archive.length - from} there`);
    const name = text(at, 100).split('/').at(-1)!;
    const isFile = ['0', ''].includes(text(at + 156, 1));
    if (isFile && name !== '' && name !== '.' && name !== '..')
      files.push({ name, bytes: archive.subarray(from, from + size) });
    at = from + Math.ceil(size / block) * block;
  }
  return files;
}
