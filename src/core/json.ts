/** Plain JSON values: what tasks, states and records are made of, so that they can be stored, compared and replayed. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** JSON with sorted keys: two equal values give the same string, whatever order their keys were written in. */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonicalJson(item)).join(',')}]`;
  const object = value as JsonObject;
  const fields = Object.keys(object)
    .filter((key) => object[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(object[key]!)}`);
  return `{${fields.join(',')}}`;
}

/**
 * The path of the first thing in `value` that JSON cannot hold (a function, undefined, NaN, a class instance, a cycle),
 * or undefined when everything is plain.
 */
export function findNonJson(
  value: unknown,
  path = '$',
  ancestors: readonly object[] = [],
): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : path;
  if (typeof value !== 'object' || ancestors.includes(value)) return path;
  const inside = [...ancestors, value];
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const found = findNonJson(item, `${path}[${index}]`, inside);
      if (found) return found;
    }
    return undefined;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return path;
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    const found = findNonJson(item, `${path}.${key}`, inside);
    if (found) return found;
  }
  return undefined;
}
