/** Strict parsing of what people write: settings, options, files. Unknown keys are errors that name the nearest one. */

import type { z } from 'zod';
import { nearest, TurnwiseError } from '../errors.ts';

/**
 * Parse with a schema; the first problem becomes a TurnwiseError that says which key, what was seen and what is allowed.
 *
 * @param subject whose settings these are, for messages: `A run`, `Credit method "gae"`
 * @param path where `value` lies in what the person wrote
 * @throws TurnwiseError `config-unknown-key` naming the nearest valid key, `config-invalid`
 */
export function parseStrict<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  subject: string,
  path: readonly string[] = [],
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const inside = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    const key = [...path, ...inside, issue.keys[0]!].join('.');
    const known = keysOf(schema, inside).map((name) => [...path, ...inside, name].join('.'));
    const near = nearest(key, known);
    throw new TurnwiseError('config-unknown-key', {
      what: `${subject} has no setting "${key}"`,
      allowed: known.join(', ') || 'no settings',
      ...(near ? { next: `Did you mean "${near}"?` } : {}),
      fields: { key },
    });
  }
  const key = [...path, ...inside].join('.');
  throw new TurnwiseError('config-invalid', {
    what: key ? `${subject} cannot use this value of "${key}"` : `${subject} cannot use these settings`,
    seen: JSON.stringify(valueAt(value, inside)) ?? 'nothing',
    allowed: issue.message
      .replace(/^[^:]+: expected /, '')
      .replace(/, received \w+$/, '')
      .replace(/^number to be ([<>]=?)/, 'a number $1 '),
    fields: { key },
  });
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (inner as Readonly<Record<string, unknown>> | undefined)?.[key],
    value,
  );
}

/** The keys that the object schema at `path` accepts. */
function keysOf(schema: z.ZodType, path: readonly string[]): string[] {
  let at: unknown = schema;
  for (const key of [...path, undefined]) {
    while (isWrapper(at)) at = at.def.innerType;
    const shape = (at as { shape?: Record<string, unknown> } | undefined)?.shape;
    if (key === undefined) return Object.keys(shape ?? {});
    at = shape?.[key];
  }
  return [];
}

function isWrapper(schema: unknown): schema is { def: { innerType: unknown } } {
  return typeof schema === 'object' && schema !== null && 'def' in schema
    ? (schema.def as { innerType?: unknown }).innerType !== undefined
    : false;
}
