/** A curve of 96 by 20 pixels for a row of a table: test success, with training behind it. Both from 0 to 1. */

interface SparklineProps {
  /** Places from 0 to 1, and values. */
  readonly tested: readonly (readonly [number, number])[];
  readonly training: readonly (number | null)[];
}

const [width, height, edge] = [96, 20, 2];

export function Sparkline({ tested, training }: SparklineProps) {
  const x = (place: number): number => edge + place * (width - 2 * edge);
  const y = (value: number): number => height - edge - Math.min(1, Math.max(0, value)) * (height - 2 * edge);
  const path = (points: readonly (readonly [number, number])[]): string =>
    points
      .map(
        ([place, value], index) => `${index === 0 ? 'M' : 'L'}${x(place).toFixed(1)} ${y(value).toFixed(1)}`,
      )
      .join('');
  const behind = training.flatMap((value, index): [number, number][] =>
    value === null ? [] : [[(index + 1) / training.length, value]],
  );
  const last = tested.at(-1);
  return (
    <svg
      class="sparkline"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      aria-hidden="true"
    >
      <path class="behind" d={path(behind)} />
      <path class="front" d={path(tested)} />
      {last && <circle class="last" cx={x(last[0])} cy={y(last[1])} r="2" />}
    </svg>
  );
}
