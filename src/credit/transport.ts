/** Entropy-regularised optimal transport between rows and columns of equal total weight (Sinkhorn's iteration). */

import type { Scores } from './assignment.ts';

const TOLERANCE = 1e-6;
const MOST_ITERATIONS = 500;

/**
 * The plan T ≥ 0 with row sums 1/rows and column sums 1/columns that maximises Σ T·score + regularisation · entropy(T),
 * as `values[row * columns + column]`. Scores lie in [0, 1].
 */
export function transportPlan({ values, rows, columns }: Scores, regularisation: number): Float64Array {
  const best = values.reduce((a, b) => Math.max(a, b), 0);
  const kernel = values.map((score) => Math.exp((score - best) / regularisation));
  const rowFactors = new Float64Array(rows).fill(1);
  const columnFactors = new Float64Array(columns);
  // Under the present row factors. A row adds its share when its factor is known, so an iteration is one pass.
  const columnSums = new Float64Array(columns);
  for (let place = 0; place < kernel.length; place++) columnSums[place % columns]! += kernel[place]!;
  for (let iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
    for (let column = 0; column < columns; column++) {
      columnFactors[column] = 1 / (columns * columnSums[column]!);
      columnSums[column] = 0;
    }
    let error = 0;
    for (let row = 0; row < rows; row++) {
      const start = row * columns;
      let sum = 0;
      for (let column = 0; column < columns; column++)
        sum += kernel[start + column]! * columnFactors[column]!;
      error = Math.max(error, Math.abs(rowFactors[row]! * sum * rows - 1));
      const factor = 1 / (rows * sum);
      rowFactors[row] = factor;
      for (let column = 0; column < columns; column++)
        columnSums[column]! += kernel[start + column]! * factor;
    }
    if (error < TOLERANCE) break;
  }
  return kernel.map(
    (weight, index) => weight * rowFactors[Math.floor(index / columns)]! * columnFactors[index % columns]!,
  );
}
