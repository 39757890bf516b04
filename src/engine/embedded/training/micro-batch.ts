/** Micro-batches: a few lines side by side, padded to one length, with the targets of their rows. */

import { inputBefore, type Line, rowLines, treeLines } from './lines.ts';
import { offsetsOf, type PackedBatch } from './packed-batch.ts';

/** Lines padded on the right to equal, even length: input t of a row predicts its token t + 1. */
export interface MicroBatch {
  /** Index of each row in the packed batch. */
  readonly rows: readonly number[];
  /** [lines, length]. */
  readonly shape: readonly [number, number];
  readonly inputs: BigInt64Array;
  /** Of trees: the input of its line that each input follows; -1 for the first, and for padding. */
  readonly parents?: Int32Array;
  /** The token that follows each input, where each has one. */
  readonly next?: BigInt64Array;
  /** Index of each target in the packed batch. */
  readonly targets: Int32Array;
  /** The input that predicts each target, and the target itself. */
  readonly place_N: Int32Array;
  readonly id_N: Int32Array;
  readonly row_N: Int32Array;
  readonly turn_N: Int32Array;
  readonly channels: Readonly<Record<string, Float32Array>>;
  readonly allowed?: { readonly sets: readonly Int32Array[]; readonly set_N: Int32Array };
}

/** Padding that a micro-batch may hold: this share of its tokens, or a few tokens, which cost less than another call. */
const paddingShare = 0.08;
const paddingTokens = 32;

/**
 * Micro-batches of at most `tokenBudget` padded tokens (but at least one line), lines of similar length together, so that
 * little is padding. Rows of a single token have nothing to predict and are left out.
 */
export function* microBatches(batch: PackedBatch, tokenBudget: number): Generator<MicroBatch> {
  const lines = batch.sharing ? treeLines(batch, tokenBudget) : rowLines(batch);
  lines.sort((a, b) => b.ids.length - a.ids.length || a.rows[0]! - b.rows[0]!);
  const pad = padder(batch);
  let from = 0;
  while (from < lines.length) {
    const size = lines[from]!.ids.length;
    const length = size + (size % 2);
    let padding = length - size;
    let to = from + 1;
    for (; to < lines.length; to++) {
      const tokens = (to + 1 - from) * length;
      padding += length - lines[to]!.ids.length;
      if (tokens > tokenBudget || padding > Math.max(paddingTokens, paddingShare * tokens)) break;
    }
    yield pad(lines.slice(from, to), length);
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
    load[lane]! += paddedTokens(micro);
  }
  return dealt;
}

/** Tokens computed, padding among them. */
export function paddedTokens({ shape: [lines, length] }: MicroBatch): number {
  return lines * length;
}

/** What a lane may hold at once, or less, so that all lanes have the same number of micro-batches to compute. */
function evenBudget({ lengths_B }: PackedBatch, tokenBudget: number, lanes: number): number {
  const tokens = lengths_B.reduce((total, length) => total + length - 1, 0);
  const longest = lengths_B.reduce((most, length) => Math.max(most, length), 0);
  const most = Math.floor(tokenBudget / lanes);
  const rounds = Math.ceil(tokens / tokenBudget);
  return Math.min(most, Math.ceil(tokens / (lanes * rounds)) + longest - 2);
}

/** Pads lines of the batch to a micro-batch. */
function padder(batch: PackedBatch): (lines: readonly Line[], length: number) => MicroBatch {
  const offsets = offsetsOf(batch);
  const targetsOf = Array.from(batch.lengths_B, (): number[] => []);
  const id_N = new Int32Array(batch.row_N.length);
  for (const [target, row] of batch.row_N.entries()) {
    targetsOf[row]!.push(target);
    id_N[target] = batch.ids[offsets[row]! + batch.position_N[target]!]!;
  }
  return (lines, length) => {
    const size = lines.length * length;
    const inputs = new BigInt64Array(size);
    const parents = batch.sharing ? new Int32Array(size).fill(-1) : undefined;
    const targets: number[] = [];
    const places: number[] = [];
    for (const [index, line] of lines.entries()) {
      for (const [at, id] of line.ids.entries()) inputs[index * length + at] = BigInt(id);
      if (parents && line.parents) parents.set(line.parents, index * length);
      for (const [rowOfLine, row] of line.rows.entries())
        for (const target of targetsOf[row]!) {
          targets.push(target);
          places.push(index * length + inputBefore(line, rowOfLine, batch.position_N[target]!));
        }
    }
    const pick = (values: Int32Array): Int32Array => {
      const picked = new Int32Array(targets.length);
      for (const [index, target] of targets.entries()) picked[index] = values[target]!;
      return picked;
    };
    return {
      rows: lines.flatMap(({ rows }) => rows),
      shape: [lines.length, length],
      inputs,
      ...(parents ? { parents } : { next: nextTokens(batch, offsets, lines, length) }),
      targets: Int32Array.from(targets),
      place_N: Int32Array.from(places),
      id_N: pick(id_N),
      row_N: pick(batch.row_N),
      turn_N: pick(batch.turn_N),
      channels: Object.fromEntries(
        Object.entries(batch.channels).map(([name, values]) => [
          name,
          pickNumbers(values, targets, batch.row_N.length),
        ]),
      ),
      ...(batch.allowed && { allowed: usedSets(batch.allowed.sets, pick(batch.allowed.set_N)) }),
    };
  };
}

/** The sets that some targets have, numbered anew: each is a row as wide as the vocabulary in the pass. */
function usedSets(
  sets: readonly Int32Array[],
  set_N: Int32Array,
): { readonly sets: readonly Int32Array[]; readonly set_N: Int32Array } {
  const used = [...new Set(set_N)].filter((set) => set > 0).sort((a, b) => a - b);
  const numbers = new Map(used.map((set, index) => [set, index + 1]));
  return { sets: used.map((set) => sets[set - 1]!), set_N: set_N.map((set) => numbers.get(set) ?? 0) };
}

/** The numbers of some targets of a channel, which may have several for each. */
function pickNumbers(values: Float32Array, targets: readonly number[], count: number): Float32Array {
  const numbers = values.length / count;
  const picked = new Float32Array(targets.length * numbers);
  for (const [index, target] of targets.entries())
    for (let i = 0; i < numbers; i++) picked[index * numbers + i] = values[target * numbers + i]!;
  return picked;
}

function nextTokens(
  { ids, lengths_B }: PackedBatch,
  offsets: readonly number[],
  lines: readonly Line[],
  length: number,
): BigInt64Array {
  const next = new BigInt64Array(lines.length * length);
  for (const [index, { rows }] of lines.entries()) {
    const row = rows[0]!;
    for (let at = 0; at < lengths_B[row]! - 1; at++)
      next[index * length + at] = BigInt(ids[offsets[row]! + at + 1]!);
  }
  return next;
}
