/** What every engine checks before it works: batches and sampling requests that fit the model. */

import { arePrefixFree, MOST_CHOICES } from '../core/choices.ts';
import { TurnwiseError } from '../core/errors.ts';
import type { SampleRequest, ScoredRows, TokenBatch } from './engine.ts';

export interface ModelLimits {
  readonly vocabulary: number;
  readonly contextLength: number;
}

/**
 * @throws TurnwiseError `batch-invalid` for an empty or too long row, an id outside the vocabulary, a target that is no token of
 * a row, and a channel that is missing, of another length than the targets, or not finite
 */
export function checkBatch(batch: TokenBatch, channels: readonly string[], limits: ModelLimits): void {
  checkRows(batch.rows, limits);
  checkTargets(batch);
  const { row_N, position_N, channels: given } = batch.targets;
  const count = row_N.length;
  if (count === 0) return;
  for (const name of channels) {
    const channel = given[name];
    // Every target has a turn, and so a number in this channel.
    if (channel === undefined && name === 'turns') continue;
    const numbers = (channel?.length ?? 0) / count;
    if (channel === undefined || !(numbers >= 1 && numbers % 1 === 0))
      throw new TurnwiseError('batch-invalid', {
        what: `The batch has no usable channel ${name}`,
        seen: channel ? `${channel.length} values` : 'nothing',
        allowed: `${count} values, one for each target, or several for each`,
      });
    const place = channel.findIndex((value) => !Number.isFinite(value));
    if (place < 0) continue;
    const target = Math.floor(place / numbers);
    const row = row_N[target]!;
    throw new TurnwiseError('batch-invalid', {
      what: `Row ${row} of the batch has a value that is not finite in channel ${name}`,
      seen: `${channel[place]} at token ${position_N[target]}`,
      allowed: 'finite numbers',
      fields: { row },
    });
  }
}

function checkTargets({ rows, targets: { row_N, position_N, turn_N, allowed_N } }: TokenBatch): void {
  for (const [target, row] of row_N.entries()) {
    const ids_T = rows[row]?.ids_T;
    const position = position_N[target]!;
    const id = ids_T?.[position];
    const allowed = allowed_N?.[target];
    if (position >= 1 && id !== undefined && (!allowed || allowed.includes(id))) continue;
    throw new TurnwiseError('batch-invalid', {
      what: `Target ${target} of the batch names no token that could be predicted`,
      seen: `token ${position} of row ${row}${id === undefined ? '' : `, id ${id}`}`,
      allowed: ids_T
        ? `tokens 1 to ${ids_T.length - 1}${allowed ? ` that are among the ids ${allowed.join(', ')}` : ''}`
        : `rows 0 to ${rows.length - 1}`,
      fields: { target, row },
    });
  }
  if (position_N.length === row_N.length && turn_N.length === row_N.length) return;
  throw new TurnwiseError('batch-invalid', {
    what: 'The targets of the batch have not each a row, a position and a turn',
    seen: `${row_N.length} rows, ${position_N.length} positions and ${turn_N.length} turns`,
    allowed: 'arrays of one length',
  });
}

/** @throws TurnwiseError `batch-invalid` for an empty or too long row, and for an id outside the vocabulary */
export function checkRows(rows: TokenBatch['rows'], limits: ModelLimits): void {
  for (const [index, { ids_T }] of rows.entries()) {
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
  }
}

/** @throws TurnwiseError `batch-invalid` as `checkRows`, and for a token that is none of those that it was chosen among */
export function checkScoredRows({ rows, allowed_B }: ScoredRows, limits: ModelLimits): void {
  checkRows(rows, limits);
  for (const [row, allowed_T] of (allowed_B ?? []).entries()) {
    const ids_T = rows[row]!.ids_T;
    if (allowed_T === undefined) continue;
    const at = ids_T.findIndex((id, position) => allowed_T[position]?.includes(id) === false);
    if (at < 0 && allowed_T.length === ids_T.length) continue;
    throw new TurnwiseError('batch-invalid', {
      what: `Row ${row} of the batch was not chosen among the ids that are allowed in it`,
      seen: at < 0 ? `${allowed_T.length} sets for ${ids_T.length} tokens` : `token ${at}, id ${ids_T[at]}`,
      allowed: at < 0 ? 'one for each token' : `the ids ${allowed_T[at]!.join(', ')}`,
      fields: { row },
    });
  }
}

/**
 * Whether a request fits the model; whether it fits its conversation is known where the conversation is.
 *
 * @throws TurnwiseError `sample-invalid`
 */
export function checkSampleRequest(
  request: SampleRequest,
  { vocabulary }: Pick<ModelLimits, 'vocabulary'>,
): void {
  const { conversation, keep, append, choices, constraint, sampling } = request;
  const { maxTokens, temperature, topP, topK } = sampling;
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
  if (constraint && choices)
    throw invalid('has choices and a constraint', `${choices.length} choices`, 'one of them');
  if (constraint?.forms.length === 0)
    throw invalid('has a constraint without forms', '0 forms', 'at least one');
  if (choices === undefined) return;
  const longest = choices.reduce((most, { length }) => Math.max(most, length), 0);
  if (choices.length === 0 || choices.length > MOST_CHOICES)
    throw invalid('has an unusable number of choices', String(choices.length), `1 to ${MOST_CHOICES}`);
  const strange = choices.find((ids) => ids.length === 0 || ids.some((id) => !(id >= 0 && id < vocabulary)));
  if (strange !== undefined)
    throw invalid(
      'has an unusable choice',
      strange.length === 0 ? 'no tokens' : `the ids ${strange.join(', ')}`,
      `at least one id, each 0 to ${vocabulary - 1}`,
    );
  if (!arePrefixFree(choices))
    throw invalid(
      'has a choice with which another one begins',
      `${choices.length} choices`,
      'choices that each end with an id that no other has there, such as one that ends a turn',
    );
  if (longest > maxTokens)
    throw invalid('has a choice above its maxTokens', `${longest} tokens`, `at most ${maxTokens}`);
}
