/** What a pass computes, line by line: a row for itself, or rows that begin alike as one tree whose tokens are computed once. */

import { offsetsOf, type PackedBatch } from './packed-batch.ts';

/** A line of a micro-batch. Its inputs are all tokens of its rows but the last of each, which predicts nothing. */
export interface Line {
  /** Indices of its rows in the batch. */
  readonly rows: readonly number[];
  /** The input ids, a token before those that follow it. */
  readonly ids: Int32Array;
  /** Of a tree: the input that each input follows; -1 for the first. A single row has none: its inputs follow one another. */
  readonly parents?: Int32Array;
  /** For each row, the inputs that its tokens are; of a single row simply those in order. */
  readonly paths?: readonly Int32Array[];
}

/** The input that predicts a token of a row. */
export function inputBefore({ paths }: Line, rowOfLine: number, position: number): number {
  return paths ? paths[rowOfLine]![position - 1]! : position - 1;
}

/** Each row that predicts anything, for itself. */
export function rowLines(batch: PackedBatch): Line[] {
  const offsets = offsetsOf(batch);
  return [...batch.lengths_B.entries()].flatMap(([row, length]) =>
    length > 1 ? [{ rows: [row], ids: batch.ids.subarray(offsets[row]!, offsets[row]! + length - 1) }] : [],
  );
}

/**
 * Rows that begin alike as trees of at most `most` inputs (but at least one row). Where a tree is larger, its rows are dealt to
 * several lines, each of which computes what its rows share.
 */
export function treeLines(batch: PackedBatch, most: number): Line[] {
  const lines: Line[] = [];
  const offsets = offsetsOf(batch);
  for (const rows of relatives(batch)) {
    let tree = new Tree(batch, offsets);
    for (const row of rows) {
      if (tree.rows.length > 0 && tree.size + tree.added(row) > most) {
        lines.push(tree.line());
        tree = new Tree(batch, offsets);
      }
      tree.add(row);
    }
    if (tree.rows.length > 0) lines.push(tree.line());
  }
  return lines;
}

/** Inputs of all trees, were none of them too large: what sharing leaves to compute. */
export function distinctInputs({ lengths_B, sharedLength_B }: PackedBatch): number {
  return lengths_B.reduce(
    (sum, length, row) => sum + Math.max(0, length - 1 - Math.min(sharedLength_B[row]!, length - 1)),
    0,
  );
}

/** Rows in families: those that share their first token with one another, directly or through others. */
function relatives({ lengths_B, sharedRow_B }: PackedBatch): number[][] {
  const families = new Map<number, number[]>();
  const first: number[] = [];
  for (const [row, length] of lengths_B.entries()) {
    const other = sharedRow_B[row]!;
    first.push(other < 0 ? row : first[other]!);
    if (length < 2) continue;
    const family = families.get(first[row]!) ?? [];
    families.set(first[row]!, family);
    family.push(row);
  }
  return [...families.values()];
}

/** A tree that grows row by row. */
class Tree {
  readonly rows: number[] = [];
  readonly #batch: PackedBatch;
  readonly #offsets: readonly number[];
  readonly #ids: number[] = [];
  readonly #parents: number[] = [];
  readonly #paths: number[][] = [];
  /** By row, its first inputs as far as they are in the tree: of rows of other lines too, through which rows are related. */
  readonly #known = new Map<number, readonly number[]>();

  constructor(batch: PackedBatch, offsets: readonly number[]) {
    this.#batch = batch;
    this.#offsets = offsets;
  }

  get size(): number {
    return this.#ids.length;
  }

  /** How many inputs the row would add. */
  added(row: number): number {
    return this.#batch.lengths_B[row]! - 1 - this.#shared(row).length;
  }

  add(row: number): void {
    const path = [...this.#shared(row)];
    for (let position = path.length; position < this.#batch.lengths_B[row]! - 1; position++) {
      this.#parents.push(path.at(-1) ?? -1);
      path.push(this.#ids.push(this.#batch.ids[this.#offsets[row]! + position]!) - 1);
    }
    this.rows.push(row);
    this.#paths.push(path);
    this.#learn(row, path);
  }

  line(): Line {
    return {
      rows: this.rows,
      ids: Int32Array.from(this.#ids),
      parents: Int32Array.from(this.#parents),
      paths: this.#paths.map((path) => Int32Array.from(path)),
    };
  }

  /** The inputs of the row that are in the tree already: the most that it or a row that it is related to knows. */
  #shared(row: number): readonly number[] {
    const { lengths_B, sharedRow_B, sharedLength_B } = this.#batch;
    let length = lengths_B[row]! - 1;
    let shared: readonly number[] = [];
    for (let at = row; at >= 0 && length > shared.length; at = sharedRow_B[at]!) {
      const known = this.#known.get(at) ?? [];
      if (Math.min(known.length, length) > shared.length) shared = known.slice(0, length);
      length = Math.min(length, sharedLength_B[at]!);
    }
    return shared;
  }

  /** What a row has computed, those that it is related to through it begin with too. */
  #learn(row: number, path: readonly number[]): void {
    const { sharedRow_B, sharedLength_B } = this.#batch;
    let length = path.length;
    for (let at = row; at >= 0; at = sharedRow_B[at]!) {
      const known = this.#known.get(at);
      if ((known?.length ?? -1) < length) this.#known.set(at, path.slice(0, length));
      length = Math.min(length, sharedLength_B[at]!);
    }
  }
}
