/** One number of many by its rank, without sorting the rest. */

/**
 * The number that would stand at `n` if `values_N` were sorted. Reorders them. Takes time in proportion to their number.
 *
 * @param n from 0
 */
export function nthSmallest(values_N: Float64Array, n: number): number {
  let [from, to] = [0, values_N.length - 1];
  while (from < to) {
    const middle = values_N[(from + to) >> 1]!;
    let [low, high] = [from, to];
    while (low <= high) {
      while (values_N[low]! < middle) low++;
      while (values_N[high]! > middle) high--;
      if (low > high) break;
      [values_N[low], values_N[high]] = [values_N[high]!, values_N[low]!];
      low++;
      high--;
    }
    // Up to `high` nothing is larger than `middle`, from `low` on nothing smaller; what is between equals it.
    if (n <= high) to = high;
    else if (n >= low) from = low;
    else break;
  }
  return values_N[n]!;
}
