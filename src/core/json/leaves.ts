/** A nested object as a list: the form of settings in tables and in files of other tools. */

import type { Json } from './json.ts';

/** Leaves by dotted key; lists are leaves. */
export function leaves(value: Json, key = ''): [string, Json][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[key, value]];
  return Object.entries(value).flatMap(([name, field]) =>
    leaves(field as Json, key ? `${key}.${name}` : name),
  );
}
