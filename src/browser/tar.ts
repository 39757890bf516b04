/** Files as one archive that every `tar` unpacks (POSIX.1-1988, ustar). */

export interface ArchivedFile {
  /** With slashes; at most 100 bytes. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

const block = 512;
const encoder = new TextEncoder();

/** @param seconds when the files were made, since 1970 */
export function tarOf(files: readonly ArchivedFile[], seconds: number): Uint8Array<ArrayBuffer> {
  const sizes = files.map(({ bytes }) => block + Math.ceil(bytes.byteLength / block) * block);
  const archive = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0) + 2 * block);
  let at = 0;
  for (const [index, { path, bytes }] of files.entries()) {
    archive.set(headerOf(path, bytes.byteLength, seconds), at);
    archive.set(bytes, at + block);
    at += sizes[index]!;
  }
  return archive;
}

function headerOf(path: string, size: number, seconds: number): Uint8Array {
  const name = encoder.encode(path);
  if (name.byteLength > 100) throw new RangeError(`The path ${path} is too long for an archive`);
  const header = new Uint8Array(block);
  const write = (offset: number, text: string): void => header.set(encoder.encode(text), offset);
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;
  header.set(name, 0);
  write(100, octal(0o644, 7));
  write(108, octal(0, 7));
  write(116, octal(0, 7));
  write(124, octal(size, 11));
  write(136, octal(Math.floor(seconds), 11));
  // The sum is taken with spaces in its own place.
  write(148, '        ');
  write(156, '0');
  write(257, 'ustar\0');
  write(263, '00');
  const sum = header.reduce((total, byte) => total + byte, 0);
  write(148, `${octal(sum, 6)} `);
  return header;
}
