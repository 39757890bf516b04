/** Token batches as a few flat arrays: cheap to hand to a worker thread, where micro-batches are cut from them. */

import { isForced } from '../../../core/choices.ts';
import type { TokenTargets } from '../../../objective/contract/objective.ts';
import { checkBatch, checkScoredRows, type ModelLimits } from '../../checks.ts';
import type { BatchRow, ScoredRows, TokenBatch } from '../../engine.ts';

/** Rows laid end to end, and N targets. */
export interface PackedBatch {
  readonly lengths_B: Int32Array;
  readonly ids: Int32Array;
  /** Where each row begins like an earlier one: that row, or -1, and how many tokens they share. */
  readonly sharedRow_B: Int32Array;
  readonly sharedLength_B: Int32Array;
  readonly row_N: Int32Array;
  readonly position_N: Int32Array;
  readonly turn_N: Int32Array;
  readonly channels: Readonly<Record<string, Float32Array>>;
  /** The sets of ids over which targets are normalised, and the number of each target's; none is set 0. */
  readonly allowed?: { readonly sets: readonly Int32Array[]; readonly set_N: Int32Array };
  /** Whether what rows share is computed once. */
  readonly sharing: boolean;
}

/**
 * Lays a batch out.
 * @throws TurnwiseError `batch-invalid` where `checkBatch` does
 */
export function packBatch(batch: TokenBatch, channels: readonly string[], limits: ModelLimits): PackedBatch {
  checkBatch(batch, channels, limits);
  const { row_N, position_N, turn_N, allowed_N, channels: given } = batch.targets;
  return {
    ...packRows(batch.rows),
    row_N: row_N.slice(),
    position_N: position_N.slice(),
    turn_N: turn_N.slice(),
    channels: Object.fromEntries(
      channels.flatMap((name) => (name in given ? [[name, given[name]!.slice()] as const] : [])),
    ),
    ...(allowed_N?.some((allowed) => allowed !== null) && { allowed: setsOf(allowed_N) }),
    sharing: false,
  };
}

/**
 * Rows whose tokens are all targets, as scoring has them, but for the first of each. Forced tokens are as if they were chosen
 * among all: whoever unpacks the scores knows theirs.
 * @throws TurnwiseError `batch-invalid` where `checkScoredRows` does
 */
export function packAllTokens({ rows, allowed_B }: ScoredRows, limits: ModelLimits): PackedBatch {
  checkScoredRows({ rows, ...(allowed_B && { allowed_B }) }, limits);
  const packed = packRows(rows);
  const count = packed.ids.length - rows.length;
  const row_N = new Int32Array(count);
  const position_N = new Int32Array(count);
  const allowed_N: (Int32Array | null)[] = [];
  let next = 0;
  for (const [row, length] of packed.lengths_B.entries())
    for (let position = 1; position < length; position++) {
      row_N[next] = row;
      position_N[next++] = position;
      const allowed = allowed_B?.[row]?.[position] ?? null;
      if (allowed_B) allowed_N.push(isForced(allowed) ? null : allowed);
    }
  return {
    ...packed,
    row_N,
    position_N,
    turn_N: new Int32Array(row_N.length).fill(-1),
    channels: {},
    ...(allowed_N.some((allowed) => allowed !== null) && { allowed: setsOf(allowed_N) }),
    sharing: false,
  };
}

function packRows(
  rows: readonly BatchRow[],
): Pick<PackedBatch, 'lengths_B' | 'ids' | 'sharedRow_B' | 'sharedLength_B'> {
  const lengths_B = Int32Array.from(rows, ({ ids_T }) => ids_T.length);
  const ids = new Int32Array(lengths_B.reduce((sum, length) => sum + length, 0));
  let offset = 0;
  for (const { ids_T } of rows) {
    ids.set(ids_T, offset);
    offset += ids_T.length;
  }
  return {
    lengths_B,
    ids,
    sharedRow_B: Int32Array.from(rows, ({ sharedWith }) => sharedWith?.row ?? -1),
    sharedLength_B: Int32Array.from(rows, ({ sharedWith }) => sharedWith?.length ?? 0),
  };
}

/** Equal sets are kept once. */
function setsOf(allowed_N: NonNullable<TokenTargets['allowed_N']>): NonNullable<PackedBatch['allowed']> {
  const sets: Int32Array[] = [];
  const numbers = new Map<string, number>();
  const set_N = Int32Array.from(allowed_N, (allowed) => {
    if (allowed === null) return 0;
    const key = allowed.join();
    const known = numbers.get(key) ?? sets.push(allowed);
    numbers.set(key, known);
    return known;
  });
  return { sets, set_N };
}

/** The buffers of a packed batch, for handing over to another thread. */
export function buffersOf(batch: PackedBatch): ArrayBuffer[] {
  const { lengths_B, ids, sharedRow_B, sharedLength_B, row_N, position_N, turn_N, channels } = batch;
  const arrays = [lengths_B, ids, sharedRow_B, sharedLength_B, row_N, position_N, turn_N];
  return [...arrays, ...Object.values(channels)].map((array) => array.buffer as ArrayBuffer);
}

/** Where each row of a packed batch begins. */
export function offsetsOf(batch: Pick<PackedBatch, 'lengths_B'>): number[] {
  let offset = 0;
  return Array.from(batch.lengths_B, (length) => {
    offset += length;
    return offset - length;
  });
}
