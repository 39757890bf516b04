/** What every engine checks before it works: batches and sampling requests that fit the model. */

import { TurnwiseError } from '../core/errors.ts';
import type { SampleRequest, TokenBatch } from './engine.ts';

export interface ModelLimits {
  readonly vocabulary: number;
  readonly contextLength: number;
}

/**
 * @throws TurnwiseError `batch-invalid` for an empty or too long row, an id outside the vocabulary, and a channel that
 * is missing, of another length than its row, or not finite
 */
export function checkBatch(batch: TokenBatch, channels: readonly string[], limits: ModelLimits): void {
  for (const [index, { ids_T, channels: given }] of batch.rows.entries()) {
    const length = ids_T.length;
    const invalid = (what: string, seen: string, allowed: string): TurnwiseError =>
      new TurnwiseError('batch-invalid', {
        what: `Row ${index} of the batch ${what}`,
        seen,
        allowed,
        fields: { row: index },
      });
    if (length === 0 || length > limits.contextLength)
      throw invalid('has an unusable length', `${length} tokens`, `1 to ${limits.contextLength} tokens`);
    const outside = ids_T.find((id) => id < 0 || id >= limits.vocabulary);
    if (outside !== undefined)
      throw invalid(
        'has a token id outside the vocabulary',
        String(outside),
        `0 to ${limits.vocabulary - 1}`,
      );
    for (const name of channels) {
      const channel = given[name];
      if (channel?.length !== length)
        throw invalid(
          `has no usable channel ${name}`,
          channel ? `${channel.length} values` : 'nothing',
          `${length} values`,
        );
      const position = channel.findIndex((value) => !Number.isFinite(value));
      if (position >= 0)
        throw invalid(
          `has a value that is not finite in channel ${name}`,
          `${channel[position]} at token ${position}`,
          'finite numbers',
        );
    }
  }
}

/**
 * Whether a request fits the model; whether it fits its conversation is known where the conversation is.
 *
 * @throws TurnwiseError `sample-invalid`
 */
export function checkSampleRequest(
  { conversation, keep, append, sampling: { maxTokens, temperature, topP, topK } }: SampleRequest,
  { vocabulary }: Pick<ModelLimits, 'vocabulary'>,
): void {
  const invalid = (what: string, seen: string, allowed: string): TurnwiseError =>
    new TurnwiseError('sample-invalid', {
      what: `The sampling request of conversation ${conversation} ${what}`,
      seen,
      allowed,
      fields: { conversation },
    });
  if (!(Number.isInteger(keep) && keep >= 0))
    throw invalid('has an unusable keep', String(keep), 'a whole number, at least 0');
  const outside = append.find((id) => !(id >= 0 && id < vocabulary));
  if (outside !== undefined)
    throw invalid('has a token id outside the vocabulary', String(outside), `0 to ${vocabulary - 1}`);
  if (!(Number.isInteger(maxTokens) && maxTokens >= 1))
    throw invalid('has an unusable maxTokens', String(maxTokens), 'a whole number, at least 1');
  if (!(temperature >= 0 && Number.isFinite(temperature)))
    throw invalid('has an unusable temperature', String(temperature), '0 (greedy) or more');
  if (!(topP > 0 && topP <= 1)) throw invalid('has an unusable topP', String(topP), 'above 0, at most 1');
  if (!(topK >= 0 && Number.isInteger(topK)))
    throw invalid('has an unusable topK', String(topK), 'a whole number; 0 keeps all');
}
