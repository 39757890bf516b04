/** Settings of credit methods, checked against their schema, with messages that name the nearest valid key. */

import { z } from 'zod';
import { nearest, TurnwiseError } from '../core/errors.ts';

/** The settings with defaults filled in; an unknown key or a bad value is an error. */
export function parseCreditOptions<Options>(
  method: string,
  schema: z.ZodType<Options>,
  given: unknown,
): Options {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  if (issue.code === 'unrecognized_keys') {
    const keys = Object.keys(z.toJSONSchema(schema, { io: 'input' }).properties ?? {});
    const key = issue.keys[0]!;
    const suggestion = nearest(key, keys);
    throw new TurnwiseError('unknown-credit-option', {
      what: `Credit method "${method}" has no such option`,
      seen: `"${key}"`,
      allowed: keys.join(', ') || 'no options',
      ...(suggestion !== undefined && { next: `Did you mean "${suggestion}"?` }),
      fields: { method, key },
    });
  }
  const path = issue.path.join('.');
  const seen = issue.path.reduce<unknown>(
    (value, key) => (value as Record<PropertyKey, unknown>)[key],
    given,
  );
  throw new TurnwiseError('invalid-credit-option', {
    what: `Option ${path ? `"${path}"` : 'list'} of credit method "${method}" is not valid: ${issue.message}`,
    seen: JSON.stringify(seen) ?? String(seen),
    fields: { method, key: path },
  });
}
