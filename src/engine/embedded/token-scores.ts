/** Scores as the engine's thread gives them, one number after another, as arrays by row. */

import { isForced } from '../../core/choices.ts';
import type { TopTokens } from '../../core/episode.ts';
import type { ScoredRows, ScoreRequest, TokenScores } from '../engine.ts';

/** @param scores by name: of every token of the rows but the first of each; k of them a token for the k likeliest */
export function scoresByRow(
  { rows, allowed_B = [] }: ScoredRows,
  { top = 0, heads }: ScoreRequest,
  scores: Readonly<Record<string, Float32Array>>,
): TokenScores {
  let next = 0;
  const firsts = rows.map(({ ids_T }) => {
    next += ids_T.length - 1;
    return next - (ids_T.length - 1);
  });
  const byRow = (values_N: Float32Array, numbers = 1): Float32Array[] =>
    rows.map(({ ids_T }, row) => {
      const values_T = new Float32Array(ids_T.length * numbers);
      const first = firsts[row]! * numbers;
      values_T.set(values_N.subarray(first, first + (ids_T.length - 1) * numbers), numbers);
      return values_T;
    });
  const unforced = (values_B: Float32Array[]): Float32Array[] => {
    for (const [row, allowed_T] of allowed_B.entries())
      for (const [at, allowed] of (allowed_T ?? []).entries()) if (isForced(allowed)) values_B[row]![at] = 0;
    return values_B;
  };
  return {
    logprobs: unforced(byRow(scores.logprobs!)),
    ...(scores.entropies && { entropies: unforced(byRow(scores.entropies)) }),
    ...(top > 0 && { top: topOf(byRow(scores['top.ids']!, top), byRow(scores['top.logprobs']!, top)) }),
    ...(scores.values && { values: byRow(scores.values) }),
    ...(heads && {
      heads: Object.fromEntries(heads.map((name) => [name, byRow(scores[`head.${name}`]!)])),
    }),
  };
}

const topOf = (ids_B: readonly Float32Array[], logprobs_B: readonly Float32Array[]): TopTokens[] =>
  ids_B.map((ids, row) => ({ ids: Int32Array.from(ids), logprobs: logprobs_B[row]! }));
