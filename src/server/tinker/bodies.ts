/** Bodies of the Tinker API: read within limits, and told apart from what was sent before. */

import { createHash } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';
import { jsonProblem } from '../../core/json/json-limits.ts';
import { invalid, messageOf } from './refusals.ts';

export interface Call {
  readonly bytes: Uint8Array;
  /** Equal for a request that is sent again. */
  readonly fingerprint: string;
  readonly idempotencyKey: string | undefined;
}

export type App = Hono<{ Bindings: HttpBindings }>;

/** Adds a route whose bodies are JSON. */
export type Post = (route: string, handle: (body: unknown, call: Call) => object | Promise<object>) => void;

export async function callOf(context: Context, route: string): Promise<Call> {
  const encoding = context.req.header('content-encoding');
  if (encoding !== undefined && encoding !== 'identity')
    throw invalid('Bodies must be uncompressed', `content-encoding ${encoding}`, 'no compression');
  const bytes = new Uint8Array(await context.req.arrayBuffer());
  return {
    bytes,
    fingerprint: createHash('sha256').update(route).update('\0').update(bytes).digest('base64'),
    idempotencyKey: context.req.header('x-idempotency-key'),
  };
}

/** Numbers of requests that are larger than JSON numbers are read here. Between unescaped quotes it can only be a key. */
const longSequenceNumber = /"seq_id"(\s*:\s*)(\d{16,20})(?=\s*[,}])/g;

/**
 * A body as JSON. `seq_id` is text where it has 16 digits or more, since as a number it would lose its last ones.
 *
 * @throws TurnwiseError `request-invalid`
 */
export function jsonOf(bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const problem = jsonProblem(text);
  if (problem !== undefined) throw invalid(`The body ${problem}`);
  try {
    return JSON.parse(text.replace(longSequenceNumber, '"seq_id"$1"$2"'));
  } catch (error) {
    throw invalid('The body is not JSON', messageOf(error));
  }
}
