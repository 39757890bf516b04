/** Values of the tensors of a GGUF file, read piece by piece: a tensor is never in memory as it is stored. */

import { type FileHandle, open } from 'node:fs/promises';
import { elementCount } from '../checkpoint/safetensors-header.ts';
import { damaged } from './gguf-errors.ts';
import type { GgufTensor } from './gguf-file.ts';

/** Bytes read at a time, in whole rows; a longer row is read alone. */
const PIECE_BYTES = 2 ** 24;

/** Open files by path, so that the tensors of one are read through one handle. */
export class TensorFiles {
  readonly #handles = new Map<string, FileHandle>();

  /**
   * The values of a tensor in 32-bit floats, row after row.
   * @param place where a row of the file goes in the result; by default where it stands
   */
  async read(
    name: string,
    { path, type, dimensions, begin }: GgufTensor,
    place: (row: number) => number = (row) => row,
  ): Promise<Float32Array> {
    const values = new Float32Array(elementCount(dimensions));
    const columns = dimensions[0]!;
    const rows = values.length / columns;
    const blocks = columns / type.elements;
    const rowBytes = blocks * type.bytes;
    const pieceRows = Math.min(rows, Math.max(1, Math.floor(PIECE_BYTES / rowBytes)));
    const piece = Buffer.allocUnsafe(pieceRows * rowBytes);
    const file = await this.#open(path);
    for (let first = 0; first < rows; first += pieceRows) {
      const count = Math.min(pieceRows, rows - first);
      const source = piece.subarray(0, count * rowBytes);
      await readFully(file, source, begin + first * rowBytes, path, name);
      for (let row = 0; row < count; row++) {
        type.decode(source, row * rowBytes, values, place(first + row) * columns, blocks);
      }
    }
    return values;
  }

  async close(): Promise<void> {
    for (const handle of this.#handles.values()) await handle.close();
    this.#handles.clear();
  }

  async #open(path: string): Promise<FileHandle> {
    const known = this.#handles.get(path);
    if (known !== undefined) return known;
    const handle = await open(path);
    this.#handles.set(path, handle);
    return handle;
  }
}

async function readFully(
  file: FileHandle,
  target: Buffer,
  position: number,
  path: string,
  tensor: string,
): Promise<void> {
  for (let done = 0; done < target.length; ) {
    const { bytesRead } = await file.read(target, done, target.length - done, position + done);
    if (bytesRead === 0) throw damaged(path, 'the file became shorter while it was read', { tensor });
    done += bytesRead;
  }
}
