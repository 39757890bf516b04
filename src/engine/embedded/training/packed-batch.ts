/** Token batches as a few flat arrays: cheap to hand to a worker thread, and cut there into padded micro-batches. */

import { checkBatch, type ModelLimits } from '../../checks.ts';
import type { TokenBatch } from '../../engine.ts';

/** Rows laid end to end. */
export interface PackedBatch {
  readonly lengths_B: Int32Array;
  readonly ids: Int32Array;
  readonly channels: Readonly<Record<string, Float32Array>>;
}

/** Rows padded on the right to equal, even length, shifted: position t holds token t as input and token t + 1 as target. */
export interface MicroBatch {
  /** Index of each row in the packed batch. */
  readonly rows: readonly number[];
  readonly length: number;
  readonly inputs: BigInt64Array;
  readonly targets: BigInt64Array;
  readonly channels: Readonly<Record<string, Float32Array>>;
}

/**
 * Lays the rows of a batch end to end.
 * @throws TurnwiseError `batch-invalid` where `checkBatch` does
 */
export function packBatch(batch: TokenBatch, channels: readonly string[], limits: ModelLimits): PackedBatch {
  checkBatch(batch, channels, limits);
  const lengths_B = Int32Array.from(batch.rows, (row) => row.ids_T.length);
  const total = lengths_B.reduce((sum, length) => sum + length, 0);
  const ids = new Int32Array(total);
  const packed = Object.fromEntries(channels.map((name) => [name, new Float32Array(total)]));
  let offset = 0;
  for (const row of batch.rows) {
    ids.set(row.ids_T, offset);
    for (const name of channels) packed[name]!.set(row.channels[name]!, offset);
    offset += row.ids_T.length;
  }
  return { lengths_B, ids, channels: packed };
}

/** The buffers of a packed batch, for handing over to another thread. */
export function buffersOf(batch: PackedBatch): ArrayBuffer[] {
  const arrays = [batch.lengths_B, batch.ids, ...Object.values(batch.channels)];
  return arrays.map((array) => array.buffer as ArrayBuffer);
}

/** Padding that a micro-batch may hold: this share of its tokens, or a few tokens, which cost less than another call. */
const paddingShare = 0.08;
const paddingTokens = 32;

/**
 * Micro-batches of at most `tokenBudget` padded tokens (but at least one row), rows of similar length together, so that
 * little is padding. Rows of a single token have nothing to predict and are left out.
 */
export function* microBatches(batch: PackedBatch, tokenBudget: number): Generator<MicroBatch> {
  const offsets = offsetsOf(batch);
  const predicted = (row: number): number => batch.lengths_B[row]! - 1;
  const order = [...batch.lengths_B.keys()]
    .filter((row) => predicted(row) > 0)
    .sort((a, b) => predicted(b) - predicted(a) || a - b);
  let from = 0;
  while (from < order.length) {
    const length = predicted(order[from]!) + (predicted(order[from]!) % 2);
    let padding = length - predicted(order[from]!);
    let to = from + 1;
    for (; to < order.length; to++) {
      const tokens = (to + 1 - from) * length;
      padding += length - predicted(order[to]!);
      if (tokens > tokenBudget || padding > Math.max(paddingTokens, paddingShare * tokens)) break;
    }
    const rows = order.slice(from, to);
    yield pad(batch, offsets, rows, length);
    from = to;
  }
}

/**
 * Micro-batches for several lanes that compute side by side within one budget: about the same number of tokens for each.
 * With one lane they are those of `microBatches`.
 */
export function dealMicroBatches(batch: PackedBatch, tokenBudget: number, lanes: number): MicroBatch[][] {
  const dealt = Array.from({ length: lanes }, (): MicroBatch[] => []);
  const load = dealt.map(() => 0);
  for (const micro of microBatches(
    batch,
    lanes === 1 ? tokenBudget : evenBudget(batch, tokenBudget, lanes),
  )) {
    const lane = load.indexOf(Math.min(...load));
    dealt[lane]!.push(micro);
    load[lane]! += micro.rows.length * micro.length;
  }
  return dealt;
}

/** What a lane may hold at once, or less, so that all lanes have the same number of micro-batches to compute. */
function evenBudget({ lengths_B }: PackedBatch, tokenBudget: number, lanes: number): number {
  const tokens = lengths_B.reduce((total, length) => total + length - 1, 0);
  const longest = lengths_B.reduce((most, length) => Math.max(most, length), 0);
  const most = Math.floor(tokenBudget / lanes);
  const rounds = Math.ceil(tokens / tokenBudget);
  return Math.min(most, Math.ceil(tokens / (lanes * rounds)) + longest - 2);
}

/** Where each row of a packed batch begins. */
export function offsetsOf(batch: Pick<PackedBatch, 'lengths_B'>): number[] {
  let offset = 0;
  return Array.from(batch.lengths_B, (length) => {
    offset += length;
    return offset - length;
  });
}

function pad(
  batch: PackedBatch,
  offsets: readonly number[],
  rows: readonly number[],
  length: number,
): MicroBatch {
  const inputs = new BigInt64Array(rows.length * length);
  const targets = new BigInt64Array(rows.length * length);
  const channels = Object.fromEntries(
    Object.keys(batch.channels).map((name) => [name, new Float32Array(rows.length * length)]),
  );
  for (const [index, row] of rows.entries()) {
    const begin = offsets[row]!;
    const end = begin + batch.lengths_B[row]!;
    for (let token = begin + 1; token < end; token++) {
      const at = index * length + token - begin - 1;
      inputs[at] = BigInt(batch.ids[token - 1]!);
      targets[at] = BigInt(batch.ids[token]!);
    }
    for (const [name, channel] of Object.entries(batch.channels))
      channels[name]!.set(channel.subarray(begin + 1, end), index * length);
  }
  return { rows, length, inputs, targets, channels };
}
