/** A series of numbers as one line of block characters. */

const blocks = '▁▂▃▄▅▆▇█';

/**
 * The last values of a series, one character each; longer series are averaged into `width` buckets.
 *
 * @param range values at the lowest and the highest block; default: the smallest and largest value
 */
export function sparkline(
  values: readonly number[],
  width: number,
  range?: readonly [number, number],
): string {
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0 || width < 1) return '';
  const shown = finite.length <= width ? finite : buckets(finite, width);
  const [low, high] = range ?? [Math.min(...shown), Math.max(...shown)];
  return shown
    .map((value) => {
      const share = high > low ? (value - low) / (high - low) : 0.5;
      return blocks[Math.min(blocks.length - 1, Math.max(0, Math.floor(share * blocks.length)))]!;
    })
    .join('');
}

function buckets(values: readonly number[], count: number): number[] {
  return Array.from({ length: count }, (_, index) => {
    const from = Math.floor((index * values.length) / count);
    const to = Math.floor(((index + 1) * values.length) / count);
    const slice = values.slice(from, to);
    return slice.reduce((sum, value) => sum + value, 0) / slice.length;
  });
}
