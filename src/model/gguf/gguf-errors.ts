/** What can be wrong with a GGUF file, as errors that name the file. */

import { basename } from 'node:path';
import { type ErrorParts, TurnwiseError } from '../../core/errors.ts';

type Said = Pick<ErrorParts, 'seen' | 'allowed' | 'next'> & { readonly tensor?: string };

/** The file is damaged, or no GGUF file at all. */
export function damaged(path: string, what: string, { tensor, ...said }: Said = {}): TurnwiseError {
  return new TurnwiseError('checkpoint-corrupt', {
    what: `${basename(path)}: ${what}`,
    next: 'Copy or download the file again',
    ...said,
    fields: { file: path, ...(tensor !== undefined && { tensor }) },
  });
}

/** The file is whole, and holds something that would be computed wrongly. */
export function unsupported(path: string, what: string, { tensor, ...said }: Said = {}): TurnwiseError {
  return new TurnwiseError('model-unsupported', {
    what: `${basename(path)}: ${what}`,
    ...said,
    fields: { file: path, ...(tensor !== undefined && { tensor }) },
  });
}

const CONVERT_AGAIN =
  'Convert the model again with a current convert_hf_to_gguf.py, or take another file of it';

/** A key of the metadata has an unusable value. */
export function invalidKey(path: string, key: string, seen: string, allowed: string): TurnwiseError {
  return new TurnwiseError('model-invalid', {
    what: `${basename(path)}: the value of ${key} cannot be used`,
    seen,
    allowed,
    next: CONVERT_AGAIN,
    fields: { file: path, key },
  });
}

/** A key without which the model cannot be read. */
export function missingKey(path: string, key: string): TurnwiseError {
  return new TurnwiseError('model-invalid', {
    what: `${basename(path)}: ${key} is missing`,
    next: CONVERT_AGAIN,
    fields: { file: path, key },
  });
}

/** Its tensors are not those of the model that the metadata describes. */
export function mismatched(
  path: string,
  what: string,
  tensor: string,
  said: Pick<Said, 'seen' | 'allowed'> = {},
): TurnwiseError {
  return new TurnwiseError('checkpoint-mismatch', {
    what: `${basename(path)}: ${what}`,
    ...said,
    next: 'Take another file of the model',
    fields: { file: path, tensor },
  });
}
