/** Matching rows with columns, each at most once: the best total, or the best pair first. */

/** `scores[row * columns + column]`, none below 0. */
export interface Scores {
  readonly values: Float64Array;
  readonly rows: number;
  readonly columns: number;
}

/** Column matched with each row, or -1; the sum of scores is the largest possible. Pairs with score 0 do not count. */
export function bestAssignment(scores: Scores): Int32Array {
  const matched =
    scores.rows <= scores.columns ? hungarian(scores) : inverted(hungarian(transposed(scores)), scores.rows);
  return matched.map((column, row) =>
    column >= 0 && scores.values[row * scores.columns + column]! > 0 ? column : -1,
  );
}

/** Column matched with each row, or -1: pairs by falling score, ties by row and then column, none with score 0. */
export function greedyAssignment({ values, rows, columns }: Scores): Int32Array {
  const pairs = Array.from(values.keys()).filter((pair) => values[pair]! > 0);
  pairs.sort((a, b) => values[b]! - values[a]! || a - b);
  const matched = new Int32Array(rows).fill(-1);
  const taken = new Uint8Array(columns);
  for (const pair of pairs) {
    const row = Math.floor(pair / columns);
    const column = pair % columns;
    if (matched[row] !== -1 || taken[column] === 1) continue;
    matched[row] = column;
    taken[column] = 1;
  }
  return matched;
}

/**
 * The Hungarian method with potentials, one row at a time along shortest augmenting paths: O(rows² · columns), for no more
 * rows than columns. Indices are one higher than usual, so that 0 can mean "none".
 */
function hungarian({ values, rows, columns }: Scores): Int32Array {
  const rowPotential = new Float64Array(rows + 1);
  const columnPotential = new Float64Array(columns + 1);
  const rowOfColumn = new Int32Array(columns + 1);
  const previous = new Int32Array(columns + 1);
  const shortest = new Float64Array(columns + 1);
  const visited = new Uint8Array(columns + 1);
  for (let row = 1; row <= rows; row++) {
    rowOfColumn[0] = row;
    shortest.fill(Number.POSITIVE_INFINITY);
    visited.fill(0);
    let column = 0;
    do {
      visited[column] = 1;
      const from = rowOfColumn[column]!;
      let step = Number.POSITIVE_INFINITY;
      let next = 0;
      for (let other = 1; other <= columns; other++) {
        if (visited[other] === 1) continue;
        const cost =
          -values[(from - 1) * columns + other - 1]! - rowPotential[from]! - columnPotential[other]!;
        if (cost < shortest[other]!) {
          shortest[other] = cost;
          previous[other] = column;
        }
        if (shortest[other]! < step) {
          step = shortest[other]!;
          next = other;
        }
      }
      for (let other = 0; other <= columns; other++) {
        if (visited[other] === 1) {
          rowPotential[rowOfColumn[other]!]! += step;
          columnPotential[other]! -= step;
        } else shortest[other]! -= step;
      }
      column = next;
    } while (rowOfColumn[column] !== 0);
    while (column !== 0) {
      rowOfColumn[column] = rowOfColumn[previous[column]!]!;
      column = previous[column]!;
    }
  }
  return inverted(
    rowOfColumn.subarray(1).map((row) => row - 1),
    rows,
  );
}

/** From the row of each column to the column of each row. */
function inverted(rowOfColumn: Int32Array, rows: number): Int32Array {
  const columnOfRow = new Int32Array(rows).fill(-1);
  for (const [column, row] of rowOfColumn.entries()) if (row >= 0) columnOfRow[row] = column;
  return columnOfRow;
}

function transposed({ values, rows, columns }: Scores): Scores {
  const turned = new Float64Array(values.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++)
      turned[column * rows + row] = values[row * columns + column]!;
  }
  return { values: turned, rows: columns, columns: rows };
}
