/** Taking a flat list apart again, as the pieces it was joined from. */

/** Consecutive pieces of `values` with the given lengths. */
export function splitByLengths(values: readonly number[], lengths: readonly number[]): number[][] {
  let end = 0;
  return lengths.map((length) => {
    end += length;
    return values.slice(end - length, end);
  });
}
