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
 *
 * @param known objects that were found to be plain before, and cannot have changed
 */
export function findNonJson(value: unknown, known?: WeakSet<object>): string | undefined {
  const keys = nonJsonIn(value, [], known);
  return keys === undefined ? undefined : `$${keys}`;
}

/** The path from `value` on; it is put together only where there is one to tell. */
function nonJsonIn(
  value: unknown,
  ancestors: object[],
  known: WeakSet<object> | undefined,
): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : '';
  if (typeof value !== 'object' || ancestors.includes(value)) return '';
  if (known?.has(value)) return undefined;
  ancestors.push(value);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const found = nonJsonIn(value[index], ancestors, known);
      if (found !== undefined) return `[${index}]${found}`;
    }
  } else {
    const prototype = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) return '';
    for (const key of Object.keys(value)) {
      const item = (value as Readonly<Record<string, unknown>>)[key];
      if (item === undefined) continue;
      const found = nonJsonIn(item, ancestors, known);
      if (found !== undefined) return `.${key}${found}`;
    }
  }
  ancestors.pop();
  return undefined;
}
