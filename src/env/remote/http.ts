/** HTTP calls to environment servers: a deadline on every wait, a limit on every answer, and typed errors for the rest. */

import type { z } from 'zod';
import { type ErrorParts, TurnwiseError } from '../../core/errors.ts';
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
  readonly headers: Headers;
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
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  const timer = setTimeout(stop, timeoutMs);
  signal?.addEventListener('abort', stop);
  try {
    const response = await fetch(url, {
      method,
      signal: controller.signal,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, text: await readText(response, call) };
  } catch (error) {
    if (TurnwiseError.isInstance(error)) throw error;
    signal?.throwIfAborted();
    if (controller.signal.aborted) {
      throw remoteError('remote-timeout', call, {
        what: `${place(call)} did not answer in time`,
        allowed: `${timeoutMs} ms`,
      });
    }
    throw remoteError('remote-unreachable', call, {
      what: `${place(call)} could not be reached, or broke off`,
      seen: reasonOf(error),
      next: 'Check the address, and that the server is running.',
      cause: error,
    });
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
  return remoteError('remote-refused', call, {
    what: `${place(call)} refused`,
    seen: `status ${answer.status}: ${excerpt(messageOf(answer.text))}`,
    fields: { status: answer.status },
  });
}

export function invalidAnswer(
  call: Pick<Call, 'method' | 'url' | 'origin'>,
  seen: string,
  allowed?: string,
): TurnwiseError {
  return remoteError('remote-answer-invalid', call, {
    what: `${place(call)} gave an answer that cannot be used`,
    seen,
    ...(allowed === undefined ? {} : { allowed }),
  });
}

export function remoteError(
  code: 'remote-timeout' | 'remote-unreachable' | 'remote-refused' | 'remote-answer-invalid',
  { url, origin = 'environment' }: Pick<Call, 'url' | 'origin'>,
  parts: ErrorParts,
): TurnwiseError {
  return new TurnwiseError(code, { ...parts, fields: { url, origin, ...parts.fields } });
}

/** The beginning of a text that may be long. */
export function excerpt(text: string): string {
  return text.length <= 200 ? text || 'nothing' : `${text.slice(0, 200)}…`;
}

/** The sentence in an error answer, whichever of the usual shapes it has. */
function messageOf(text: string): string {
  try {
    const { error, detail } = JSON.parse(text) as { error?: { message?: unknown }; detail?: unknown };
    return typeof error?.message === 'string' ? error.message : JSON.stringify(error ?? detail ?? text);
  } catch {
    return text;
  }
}

async function readText(response: Response, call: Call): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > ANSWER_LIMIT) {
      throw invalidAnswer(call, `more than ${ANSWER_LIMIT} bytes`, `at most ${ANSWER_LIMIT} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function place({ method, url }: Pick<Call, 'method' | 'url'>): string {
  return `${method} ${url}`;
}

/** `fetch` says only that it failed; the cause says why. */
function reasonOf(error: unknown): string {
  const cause = (error as { cause?: { code?: string; message?: string } }).cause;
  return cause?.code ?? cause?.message ?? (error instanceof Error ? error.message : String(error));
}
