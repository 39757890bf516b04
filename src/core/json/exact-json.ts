/**
 * JSON that loses no number: NaN and the infinities are the strings "NaN", "Infinity" and "-Infinity", typed arrays are
 * arrays of numbers, and negative zero keeps its sign. Whoever reads knows which fields are numbers.
 */

/** The text of a value; fields that are undefined are left out. Typed floats get as few digits as give them back. */
export function exactJson(value: unknown): string {
  if (typeof value === 'number') return numberText(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (value instanceof Float32Array) return `[${Array.from(value, floatText).join(',')}]`;
  if (value instanceof Int32Array) return `[${value.join(',')}]`;
  if (Array.isArray(value)) return `[${value.map(exactJson).join(',')}]`;
  const fields: string[] = [];
  for (const [key, field] of Object.entries(value)) {
    if (field !== undefined) fields.push(`${JSON.stringify(key)}:${exactJson(field)}`);
  }
  return `{${fields.join(',')}}`;
}

function numberText(value: number): string {
  if (Object.is(value, -0)) return '-0';
  return Number.isFinite(value) ? String(value) : `"${value}"`;
}

const floatText = (value: number): string => numberText(shortFloat(value));

/** The double with the fewest digits that is this 32-bit float: as a double it has twice the digits that it needs. */
export function shortFloat(value: number): number {
  for (const digits of [7, 8, 9]) {
    const short = Number(value.toPrecision(digits));
    if (Object.is(Math.fround(short), value)) return short;
  }
  return value;
}

const unusual: ReadonlyMap<unknown, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]);

/** The number that stands for `value` in exact JSON; undefined where it stands for none. */
export function exactNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : unusual.get(value);
}
