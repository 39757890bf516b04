/**
 * How token losses become one loss: each trained token's weight, with denominators over the whole optimizer step.
 *
 * A row is one training sequence. Weights are computed once for all rows of a step and then cut into micro-batches, so
 * that micro-batches add up to exactly the step's loss; averaging means of micro-batches would not.
 *
 * | aggregation                | weight of a trained token     | known from                            |
 * |----------------------------|-------------------------------|---------------------------------------|
 * | `token-mean`               | 1 / trained tokens            | DAPO, arXiv 2503.14476                |
 * | `sequence-mean-token-mean` | 1 / (rows · tokens of its row) | GRPO, arXiv 2402.03300                |
 * | `sequence-mean-token-sum`  | 1 / rows                      | policy gradients of whole sequences   |
 * | `sequence-sum-constant`    | 1 / (rows · constant)         | Dr. GRPO, arXiv 2503.20783            |
 *
 * 1. Rows without a trained token are not counted, except by `sequence-sum-constant`, which is a mean over all rows.
 * 2. Some implementations of `sequence-sum-constant` leave out the division by rows; here it is done, so that the step
 *    size does not depend on the size of the batch.
 */

import { TurnwiseError } from '../../core/errors.ts';

export type Aggregation =
  | 'token-mean'
  | 'sequence-mean-token-mean'
  | 'sequence-mean-token-sum'
  | 'sequence-sum-constant';

/**
 * Weights aligned with the masks, 0 where the mask is 0. `constant` is for `sequence-sum-constant`, which needs it: as many
 * sampled tokens as the longest trajectory may have. It is the same in every step, so that a token weighs the same whatever
 * its neighbours are.
 */
export function tokenWeights(
  masks_B_T: readonly Uint8Array[],
  aggregation: Aggregation,
  constant?: number,
): Float32Array[] {
  const isUsable = constant !== undefined && constant > 0 && Number.isFinite(constant);
  if (aggregation === 'sequence-sum-constant' && !isUsable) {
    throw new TurnwiseError('invalid-objective-option', {
      what: 'The constant that token losses are divided by is not usable',
      seen: String(constant),
      allowed: 'a positive number, such as the most tokens that a trajectory may sample',
    });
  }
  const tokens_B = masks_B_T.map((mask_T) => mask_T.reduce((count, bit) => count + bit, 0));
  const tokens = tokens_B.reduce((total, count) => total + count, 0);
  const rows = tokens_B.filter((count) => count > 0).length;
  const weightIn: Record<Aggregation, (row: number) => number> = {
    'token-mean': () => 1 / tokens,
    'sequence-mean-token-mean': (row) => 1 / (rows * tokens_B[row]!),
    'sequence-mean-token-sum': () => 1 / rows,
    'sequence-sum-constant': () => 1 / (masks_B_T.length * constant!),
  };
  return masks_B_T.map((mask_T, row) =>
    Float32Array.from(mask_T, (bit) => (bit ? weightIn[aggregation](row) : 0)),
  );
}
