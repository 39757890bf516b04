/** Questions to a server elsewhere: asked again while it is busy or away, and answers that are cut off where they are too long. */

import { z } from 'zod';
import { TurnwiseError } from '../../../core/errors.ts';
import { jsonProblem } from '../../../core/json/json-limits.ts';
import { withoutKey } from '../../../core/json/without-key.ts';
import { ask, type HttpAnswer, reasonOf } from '../../../core/node/http.ts';
import { ANSWER_MS } from '../../../core/signals/answer-deadline.ts';
import { ApiError } from '../api-error.ts';
import { OVERFLOW_CODE } from '../policy-model.ts';

const wireError = z.object({ error: z.object({ message: z.string(), code: z.unknown().optional() }) });

export interface PostOptions {
  readonly apiKey: string | undefined;
  /** Of one attempt. */
  readonly timeoutMs?: number;
  /** Attempts after the first, where the server is busy or fails. */
  readonly retries?: number;
  /** Longest answer. */
  readonly answerBytes?: number;
  readonly signal: AbortSignal;
}

/** @throws TurnwiseError `upstream-failed`; ApiError where the prompt is too long; the reason of `signal` */
export async function post(url: string, body: object, options: PostOptions): Promise<unknown> {
  const { apiKey, timeoutMs = ANSWER_MS, retries = 3, answerBytes = 32 * 2 ** 20, signal } = options;
  for (let attempt = 0; ; attempt++) {
    const deadline = AbortSignal.timeout(timeoutMs);
    let response: HttpAnswer;
    let bytes: Uint8Array | undefined;
    try {
      response = await ask(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        ...(apiKey !== undefined && { secrets: { authorization: `Bearer ${apiKey}` } }),
        body: JSON.stringify(body),
        signal: AbortSignal.any([signal, deadline]),
      });
      bytes = await response.bytes(answerBytes);
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      if (attempt < retries && !deadline.aborted) {
        await pause(attempt, undefined, signal);
        continue;
      }
      throw upstreamFailed(
        options,
        url,
        deadline.aborted ? `no answer within ${timeoutMs} ms` : reasonOf(cause),
        cause,
      );
    }
    if (bytes === undefined)
      throw upstreamFailed(options, url, `an answer of more than ${answerBytes} bytes`);
    const text = withoutKey(new TextDecoder().decode(bytes), apiKey);
    if (response.ok) return readJson(options, url, text);
    if (attempt < retries && (response.status === 429 || response.status >= 500)) {
      await pause(attempt, response.header('retry-after'), signal);
      continue;
    }
    throw refusal(options, url, response.status, text);
  }
}

/** Half a second, one, two; or what the server says, up to half a minute. */
async function pause(attempt: number, retryAfter: string | undefined, signal: AbortSignal): Promise<void> {
  const told = retryAfter === undefined ? Number.NaN : Number(retryAfter) * 1000;
  const waitMs = Number.isFinite(told) ? Math.min(30_000, Math.max(0, told)) : 500 * 2 ** attempt;
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, waitMs);
    signal.addEventListener('abort', abort, { once: true });
  });
}

function readJson(options: Keyed, url: string, text: string): unknown {
  const problem = jsonProblem(text);
  if (problem !== undefined) throw upstreamFailed(options, url, `an answer that ${problem}`);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw upstreamFailed(options, url, `an answer that is not JSON: ${shorten(text)}`, cause);
  }
}

/** A prompt that is too long is the episode's end; every other refusal is a failure. */
function refusal(options: Keyed, url: string, status: number, text: string): Error {
  let message = shorten(text);
  try {
    const { error } = wireError.parse(JSON.parse(text));
    // Escapes of JSON may have hidden it.
    message = withoutKey(error.message, options.apiKey);
    if (error.code === OVERFLOW_CODE || /maximum context length/i.test(message)) {
      return new ApiError({ status: 400, type: 'invalid_request_error', code: OVERFLOW_CODE, message });
    }
  } catch {
    // Not in OpenAI's shape: shown as it is.
  }
  return upstreamFailed(options, url, `status ${status}: ${message}`);
}

/** Whose key is to be in no message. */
type Keyed = Pick<PostOptions, 'apiKey'>;

export function upstreamFailed({ apiKey }: Keyed, url: string, seen: string, cause?: unknown): TurnwiseError {
  return new TurnwiseError('upstream-failed', {
    what: 'The server behind the gateway did not answer as it should',
    seen: withoutKey(`${seen} (${url})`, apiKey),
    next: 'Check its URL, key and model name; the episode fails and is not learned from',
    fields: { origin: 'policy', url },
    ...(cause === undefined ? {} : { cause }),
  });
}

const shorten = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text);
