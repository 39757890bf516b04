/** In which leaves two plain values differ. */

export interface Difference {
  readonly key: string;
  readonly values: readonly [unknown, unknown];
}

/** Leaves in which two plain values differ, by dotted key, in the order in which they are met. */
export function differences(first: unknown, second: unknown, key = ''): Difference[] {
  if (!isPlain(first) || !isPlain(second)) {
    return JSON.stringify(first) === JSON.stringify(second) ? [] : [{ key, values: [first, second] }];
  }
  const names = [...new Set([...Object.keys(first), ...Object.keys(second)])];
  return names.flatMap((name) => differences(first[name], second[name], key ? `${key}.${name}` : name));
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
