/**
 * Metrics on their way to the page: a header as JSON, then numbers. The layout, little-endian:
 *
 *   u32            bytes of the header
 *   header         JSON, filled up with spaces so that what follows begins at a multiple of 8
 *   f64 × points   step, minutes, episodes, turns, tokens
 *   f32 × points   for each name: min, max, mean of the bucket
 */

export const axes = ['step', 'minute', 'episode', 'turn', 'token'] as const;
export type Axis = (typeof axes)[number];

export interface SeriesHeader {
  readonly points: number;
  /** Milliseconds since 1970 of the first step, from which minutes are counted. */
  readonly began: number;
  /** Steps that a point stands for: 1, 4, 16, … */
  readonly bucket: number;
  readonly names: readonly string[];
}

/** A metric over the points: NaN where it was not measured. */
export interface Series {
  readonly min: Float32Array;
  readonly max: Float32Array;
  readonly mean: Float32Array;
}

export interface SeriesTable {
  readonly began: number;
  readonly bucket: number;
  readonly axes: Readonly<Record<Axis, Float64Array>>;
  readonly series: Readonly<Record<string, Series>>;
}

const lengthBytes = 4;

export function encodeSeries({ began, bucket, axes: columns, series }: SeriesTable): Uint8Array {
  const points = columns.step.length;
  const names = Object.keys(series);
  const header: SeriesHeader = { points, began, bucket, names };
  const text = new TextEncoder().encode(JSON.stringify(header));
  const start = Math.ceil((lengthBytes + text.length) / 8) * 8;
  const bytes = new Uint8Array(start + points * (8 * axes.length + 12 * names.length));
  bytes.fill(0x20, 0, start);
  new DataView(bytes.buffer).setUint32(0, start - lengthBytes, true);
  bytes.set(text, lengthBytes);
  let at = start;
  const put = (column: Float64Array | Float32Array): void => {
    bytes.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), at);
    at += column.byteLength;
  };
  for (const axis of axes) put(columns[axis]);
  for (const name of names) for (const part of ['min', 'max', 'mean'] as const) put(series[name]![part]);
  return bytes;
}

export function decodeSeries(buffer: ArrayBuffer): SeriesTable {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(
    new TextDecoder().decode(new Uint8Array(buffer, lengthBytes, length)),
  ) as SeriesHeader;
  const { points, began, bucket, names } = header;
  let at = lengthBytes + length;
  const doubles = (): Float64Array => {
    at += 8 * points;
    return new Float64Array(buffer, at - 8 * points, points);
  };
  const floats = (): Float32Array => {
    at += 4 * points;
    return new Float32Array(buffer, at - 4 * points, points);
  };
  const columns = Object.fromEntries(axes.map((axis) => [axis, doubles()])) as Record<Axis, Float64Array>;
  const series = Object.fromEntries(
    names.map((name): [string, Series] => [name, { min: floats(), max: floats(), mean: floats() }]),
  );
  return { began, bucket, axes: columns, series };
}
