/** Weights that are read must be numbers: one that is not would spoil everything after it. */

import { basename } from 'node:path';
import { TurnwiseError } from '../../core/errors.ts';

/** @throws TurnwiseError `checkpoint-corrupt`, naming the file and the tensor */
export function requireFinite(data: Float32Array, path: string, tensor: string): void {
  // A sum over all is not finite where one is not: one pass without a branch, then the search only where it is needed.
  let sum = 0;
  for (let i = 0; i < data.length; i++) sum += data[i]! - data[i]!;
  if (sum === 0) return;
  const position = data.findIndex((value) => !Number.isFinite(value));
  throw new TurnwiseError('checkpoint-corrupt', {
    what: `${basename(path)}: Tensor ${tensor} has a value that is not finite`,
    seen: `${data[position]} at index ${position}`,
    next: 'Copy the file again, or load another checkpoint',
    fields: { file: path, tensor },
  });
}
