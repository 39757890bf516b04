/** HTTP calls to environment servers: a deadline on every wait, a limit on every answer, and typed errors for the rest. */

import type { z } from 'zod';
import { type ErrorParts, TurnwiseError } from '../../core/errors.ts';
import { jsonProblem } from '../../core/json/json-limits.ts';
import { ask, type HttpAnswer, reasonOf } from '../../core/node/http.ts';
import type { FailureOrigin } from '../../core/stop.ts';

/** Longest answer that is read, in bytes. */
const ANSWER_LIMIT = 16 * 1024 * 1024;

export interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Who is to blame when it fails. Default: the environment. */
  readonly origin?: FailureOrigin;
}

export interface Answer {
  readonly status: number;
  readonly headers: HttpAnswer['headers'];
  readonly text: string;
}

/**
 * One exchange, whatever its status.
 *
 * @throws TurnwiseError `remote-timeout`, `remote-unreachable`, `remote-answer-invalid`; the reason of `signal`
 */
export async function exchange(call: Call): Promise<Answer> {
  const { method, url, body, headers, timeoutMs, signal } = call;
  signal?.throwIfAborted();
  const end = new AbortController();
  const late = new Error('The deadline has passed.');
  const timer = setTimeout(() => end.abort(late), timeoutMs);
  const stop = (): void => end.abort(signal?.reason);
  signal?.addEventListener('abort', stop);
  try {
    const answer = await ask(url, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      signal: end.signal,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const bytes = await answer.bytes(ANSWER_LIMIT);
    if (bytes === undefined)
      throw invalidAnswer(call, `more than ${ANSWER_LIMIT} bytes`, `at most ${ANSWER_LIMIT} bytes`);
    return {
      status: answer.status,
      headers: answer.headers,
      text: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'),
    };
  } catch (error) {
    if (TurnwiseError.isInstance(error)) throw error;
    signal?.throwIfAborted();
    if (end.signal.reason === late) {
      throw new TurnwiseError(
        'remote-timeout',
        blaming(call, {
          what: `${place(call)} did not answer in time`,
          allowed: `${timeoutMs} ms`,
        }),
      );
    }
    throw new TurnwiseError(
      'remote-unreachable',
      blaming(call, {
        what: `${place(call)} could not be reached, or broke off`,
        seen: reasonOf(error),
        next: 'Check the address, and that the server is running.',
        cause: error,
      }),
    );
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

/** One exchange that must succeed with JSON of that shape. @throws TurnwiseError as `exchange`, and `remote-refused` */
export async function callJson<Schema extends z.ZodType>(
  call: Call,
  schema: Schema,
): Promise<z.output<Schema>> {
  const answer = await exchange(call);
  if (answer.status < 200 || answer.status > 299) throw refused(call, answer);
  return parseAnswer(call, answer, schema);
}

/** @throws TurnwiseError `remote-answer-invalid` */
export function parseAnswer<Schema extends z.ZodType>(
  call: Pick<Call, 'method' | 'url' | 'origin'>,
  { text }: Pick<Answer, 'text'>,
  schema: Schema,
): z.output<Schema> {
  let value: unknown;
  const problem = jsonProblem(text);
  if (problem !== undefined) throw invalidAnswer(call, `an answer that ${problem}`);
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidAnswer(call, excerpt(text), 'JSON');
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalidAnswer(call, `${issue!.message} at "${issue!.path.join('.')}" of ${excerpt(text)}`);
}

export function refused(call: Pick<Call, 'method' | 'url' | 'origin'>, answer: Answer): TurnwiseError {
  return new TurnwiseError(
    'remote-refused',
    blaming(call, {
      what: `${place(call)} refused`,
      seen: `status ${answer.status}: ${excerpt(messageOf(answer.text))}`,
      fields: { status: answer.status },
    }),
  );
}

export function invalidAnswer(
  call: Pick<Call, 'method' | 'url' | 'origin'>,
  seen: string,
  allowed?: string,
): TurnwiseError {
  return new TurnwiseError(
    'remote-answer-invalid',
    blaming(call, {
      what: `${place(call)} gave an answer that cannot be used`,
      seen,
      ...(allowed === undefined ? {} : { allowed }),
    }),
  );
}

/** The parts of an error that names who is to blame for it, and where. */
export function blaming(
  { url, origin = 'environment' }: Pick<Call, 'url' | 'origin'>,
  parts: ErrorParts,
): ErrorParts {
  return { ...parts, fields: { url, origin, ...parts.fields } };
}

/** The beginning of a text that may be long. */
export function excerpt(text: string): string {
  return text.length <= 200 ? text || 'nothing' : `${text.slice(0, 200)}…`;
}

/** The sentence in an error answer, whichever of the usual shapes it has. */
function messageOf(text: string): string {
  if (jsonProblem(text) !== undefined) return text;
  try {
    const { error, detail } = JSON.parse(text) as { error?: { message?: unknown }; detail?: unknown };
    return typeof error?.message === 'string' ? error.message : JSON.stringify(error ?? detail ?? text);
  } catch {
    return text;
  }
}

function place({ method, url }: Pick<Call, 'method' | 'url'>): string {
  return `${method} ${url}`;
}
