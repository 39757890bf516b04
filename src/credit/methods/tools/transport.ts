/** Entropy-regularised optimal transport between rows and columns of equal total weight (Sinkhorn's iteration). */

import type { Scores } from './assignment.ts';

const TOLERANCE = 1e-6;
const MOST_ITERATIONS = 500;

/**
 * The plan T ≥ 0 with row sums 1/rows and column sums 1/columns that maximises Σ T·score + regularisation · entropy(T),
 * as `values[row * columns + column]`. Scores lie in [0, 1]. Equal rows have equal plans, and are computed once.
 */
export function transportPlan(scores: Scores, regularisation: number): Float64Array {
  const { values, rows, columns } = scores;
  const { kinds, kindOf, counts } = distinctRows(scores);
  let best = 0;
  for (let place = 0; place < values.length; place++) best = Math.max(best, values[place]!);
  const kernel = new Float64Array(kinds.length * columns);
  // Under the present row factors. A row adds its share when its factor is known, so an iteration is one pass.
  const columnSums = new Float64Array(columns);
  for (let kind = 0; kind < kinds.length; kind++) {
    for (let column = 0; column < columns; column++) {
      const score = values[kinds[kind]! * columns + column]!;
      const weight = Math.exp((score - best) / regularisation);
      kernel[kind * columns + column] = weight;
      columnSums[column]! += weight * counts[kind]!;
    }
  }
  const rowFactors = new Float64Array(kinds.length).fill(1);
  const columnFactors = new Float64Array(columns);
  for (let iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
    for (let column = 0; column < columns; column++) {
      columnFactors[column] = 1 / (columns * columnSums[column]!);
      columnSums[column] = 0;
    }
    let error = 0;
    for (let kind = 0; kind < kinds.length; kind++) {
      const start = kind * columns;
      let sum = 0;
      for (let column = 0; column < columns; column++)
        sum += kernel[start + column]! * columnFactors[column]!;
      error = Math.max(error, Math.abs(rowFactors[kind]! * sum * rows - 1));
      const factor = 1 / (rows * sum);
      rowFactors[kind] = factor;
      const share = factor * counts[kind]!;
      for (let column = 0; column < columns; column++) columnSums[column]! += kernel[start + column]! * share;
    }
    if (error < TOLERANCE) break;
  }
  const plan = new Float64Array(values.length);
  for (let row = 0; row < rows; row++) {
    const kind = kindOf[row]!;
    for (let column = 0; column < columns; column++)
      plan[row * columns + column] =
        kernel[kind * columns + column]! * rowFactors[kind]! * columnFactors[column]!;
  }
  return plan;
}

interface DistinctRows {
  /** The first row of each kind. */
  readonly kinds: readonly number[];
  /** The kind of each row. */
  readonly kindOf: Int32Array;
  /** How many rows are of each kind. */
  readonly counts: readonly number[];
}

function distinctRows({ values, rows, columns }: Scores): DistinctRows {
  const kinds: number[] = [];
  const counts: number[] = [];
  const kindOf = new Int32Array(rows);
  const areEqual = (one: number, other: number): boolean => {
    for (let column = 0; column < columns; column++)
      if (values[one * columns + column] !== values[other * columns + column]) return false;
    return true;
  };
  for (let row = 0; row < rows; row++) {
    let kind = 0;
    while (kind < kinds.length && !areEqual(kinds[kind]!, row)) kind++;
    if (kind === kinds.length) {
      kinds.push(row);
      counts.push(0);
    }
    kindOf[row] = kind;
    counts[kind]!++;
  }
  return { kinds, kindOf, counts };
}
