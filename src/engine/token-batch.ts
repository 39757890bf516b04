/** Batches from rows of numbers: which tokens a loss sees, and which rows begin alike. */

import type { AllowedIds } from '../core/choices.ts';
import { TurnwiseError } from '../core/errors.ts';
import type { BatchRow, ScoredRows, TokenBatch } from './engine.ts';

/** A row with numbers by token: how samples become a batch. Everything is aligned with `ids_T`. */
export interface TokenRow {
  readonly ids_T: Int32Array;
  /** 1 on the tokens that the loss sees; where `weight` is not 0, unless it is said. */
  readonly mask_T?: Uint8Array;
  /** Turn that each token belongs to, from 0; -1, as without it, where it belongs to none. */
  readonly turn_T?: Int32Array;
  /** Quantities by name, a number for each token or k for each; where only some rows have one, the targets of the others have no number (NaN) in it. */
  readonly channels: Readonly<Record<string, Float32Array>>;
  /** The ids that each token was chosen among, where its completion was restricted to choices. */
  readonly allowed_T?: AllowedIds;
}

/**
 * The rows as a batch: a target for each masked token, row by row, and what each row shares with an earlier one. A token at
 * position 0 is no target, since nothing precedes it.
 *
 * @example
 * const weight = Float32Array.of(0, 0, 1);
 * const { targets } = batchOf([{ ids_T: Int32Array.of(5, 6, 7), channels: { weight } }]);
 * // row_N [0], position_N [2], channels { weight: [1] }
 *
 * @throws TurnwiseError `batch-invalid` where a channel or mask has another length than its row
 */
export function batchOf(rows: readonly TokenRow[]): TokenBatch {
  const places = rows.flatMap((row, index) =>
    positionsOf(row, index).map((position) => [index, position] as const),
  );
  const names = [...new Set(rows.flatMap(({ channels }) => Object.keys(channels)))];
  const of = (name: string): Float32Array => {
    const numbers = Math.max(...rows.map(({ ids_T, channels }) => numbersIn(channels[name], ids_T)));
    if (numbers === 1)
      return Float32Array.from(
        places,
        ([row, position]) => rows[row]!.channels[name]?.[position] ?? Number.NaN,
      );
    const values = new Float32Array(places.length * numbers).fill(Number.NaN);
    for (const [target, [row, position]] of places.entries()) {
      const own = rows[row]!.channels[name];
      if (own) values.set(own.subarray(position * numbers, (position + 1) * numbers), target * numbers);
    }
    return values;
  };
  return {
    rows: sharedRows(rows.map(({ ids_T }) => ids_T)),
    targets: {
      row_N: Int32Array.from(places, ([row]) => row),
      position_N: Int32Array.from(places, ([, position]) => position),
      turn_N: Int32Array.from(places, ([row, position]) => rows[row]!.turn_T?.[position] ?? -1),
      channels: Object.fromEntries(names.map((name) => [name, of(name)])),
      ...(rows.some(({ allowed_T }) => allowed_T) && {
        allowed_N: places.map(([row, position]) => rows[row]!.allowed_T?.[position] ?? null),
      }),
    },
  };
}

/**
 * Rows to be scored, each with what its tokens were chosen among where that is known: samples and rows of a batch are such.
 *
 * @example
 * const allowed_T = [null, null, Int32Array.of(7, 9)];
 * const { logprobs } = await engine.score(scoredRows([{ ids_T: Int32Array.of(5, 6, 7), allowed_T }]), { temperature: 1 });
 * // logprobs[0][2] is that of 7 among 7 and 9
 */
export function scoredRows(rows: readonly Pick<TokenRow, 'ids_T' | 'allowed_T'>[]): ScoredRows {
  return {
    rows: sharedRows(rows.map(({ ids_T }) => ids_T)),
    ...(rows.some(({ allowed_T }) => allowed_T) && { allowed_B: rows.map(({ allowed_T }) => allowed_T) }),
  };
}

/** The rows of a batch to be scored, each target among the ids that it was chosen among. */
export function scoredTargets({ rows, targets }: TokenBatch): ScoredRows {
  const { row_N, position_N, allowed_N } = targets;
  if (!allowed_N?.some((allowed) => allowed !== null)) return { rows };
  const allowed_B = rows.map(({ ids_T }): (Int32Array | null)[] => new Array(ids_T.length).fill(null));
  for (const [target, allowed] of allowed_N.entries())
    allowed_B[row_N[target]!]![position_N[target]!] = allowed;
  return { rows, allowed_B };
}

function positionsOf({ ids_T, mask_T, turn_T, channels, allowed_T }: TokenRow, row: number): number[] {
  const { length } = ids_T;
  const single = { mask_T, turn_T, allowed_T, weight: channels.weight };
  for (const [name, values] of [...Object.entries(single), ...Object.entries(channels)])
    if (
      values !== undefined &&
      (name in single ? values.length !== length : !isMultiple(values.length, length))
    )
      throw new TurnwiseError('batch-invalid', {
        what: `Row ${row} of the batch has no usable ${name}`,
        seen: `${values.length} values`,
        allowed: `${length} values, one for each token`,
        fields: { row },
      });
  const counts = mask_T ?? channels.weight ?? new Float32Array(length);
  return [...counts.keys()].filter((position) => position > 0 && counts[position] !== 0);
}

/** How many numbers a channel has for each token; 1 of a row that has none. */
const numbersIn = (values: Float32Array | undefined, { length }: Int32Array): number =>
  values === undefined || length === 0 ? 1 : values.length / length;

const isMultiple = (count: number, length: number): boolean => count >= length && count % length === 0;

/** A run of tokens of a row, from `from` to `to`, and the runs that go on from there, by their first tokens. */
interface Run {
  readonly row: number;
  readonly from: number;
  readonly to: number;
  readonly next: Map<number, Run>;
}

/**
 * The rows, each with the longest beginning that an earlier one has too. One walk down the tree of all rows finds it, so that
 * the work is in proportion to the tokens.
 */
export function sharedRows(ids_B: readonly Int32Array[]): BatchRow[] {
  const root: Run = { row: -1, from: 0, to: 0, next: new Map() };
  return ids_B.map((ids_T, row) => {
    let [above, at, sharing] = [root, 0, -1];
    for (let run = root.next.get(ids_T[0]!); run !== undefined && at < ids_T.length; ) {
      const other = ids_B[run.row]!;
      let place = at;
      while (place < run.to && place < ids_T.length && other[place] === ids_T[place]) place++;
      sharing = run.row;
      if (place < run.to) {
        // The run parts here: what is left of it hangs below what is shared.
        const upper: Run = { row: run.row, from: at, to: place, next: new Map() };
        above.next.set(ids_T[at]!, upper);
        upper.next.set(other[place]!, { ...run, from: place });
        run = upper;
      }
      [above, at] = [run, place];
      run = at < ids_T.length ? run.next.get(ids_T[at]!) : undefined;
    }
    if (at < ids_T.length) above.next.set(ids_T[at]!, { row, from: at, to: ids_T.length, next: new Map() });
    return { ids_T, ...(at > 0 && { sharedWith: { row: sharing, length: at } }) };
  });
}
