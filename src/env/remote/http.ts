/** HTTP calls to environment servers: a deadline on every wait, a limit on every answer, and typed errors for the rest. */

import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { z } from 'zod';
import { type ErrorParts, TurnwiseError } from '../../core/errors.ts';
import { jsonProblem } from '../../core/json/json-limits.ts';
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
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

// Not `fetch`: its streams cost several times what a step of a small environment does.
const plain = { request: httpRequest, agent: new HttpAgent({ keepAlive: true }) };
const secure = { request: httpsRequest, agent: new HttpsAgent({ keepAlive: true }) };

/**
 * One exchange, whatever its status.
 *
 * @throws TurnwiseError `remote-timeout`, `remote-unreachable`, `remote-answer-invalid`; the reason of `signal`
 */
export async function exchange(call: Call): Promise<Answer> {
  const { timeoutMs, signal } = call;
  signal?.throwIfAborted();
  const request = send(call);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    request.destroy();
  }, timeoutMs);
  const stop = (): void => {
    request.destroy();
  };
  signal?.addEventListener('abort', stop);
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve);
      // Stays: a connection may break after the answer has begun.
      request.on('error', reject);
    });
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      text: await readText(response, call),
    };
  } catch (error) {
    if (TurnwiseError.isInstance(error)) throw error;
    signal?.throwIfAborted();
    if (late) {
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

function send({ method, url, body, headers }: Call): ClientRequest {
  const { request, agent } = url.startsWith('https:') ? secure : plain;
  const text = body === undefined ? undefined : JSON.stringify(body);
  const described =
    text === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  const sent = request(url, { method, agent, headers: { ...described, ...headers } });
  sent.end(text);
  return sent;
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

async function readText(response: IncomingMessage, call: Call): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > ANSWER_LIMIT) {
      // Leaving the loop destroys the connection.
      throw invalidAnswer(call, `more than ${ANSWER_LIMIT} bytes`, `at most ${ANSWER_LIMIT} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function place({ method, url }: Pick<Call, 'method' | 'url'>): string {
  return `${method} ${url}`;
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
