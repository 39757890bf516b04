/** Work on a Tinker server is a promise by number: it is asked for until it is done, failed, or has taken too long. */

import type { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { anySchema, readAnswer } from './answers.ts';
import { requestFailed, statusError, tookTooLong } from './errors.ts';
import { detailOf, parseJson, type Reply, type Transport } from './transport.ts';

export interface FutureKind<T> {
  /** For messages: `optimizer step`. */
  readonly name: string;
  readonly schema: z.ZodType<T>;
  /** Where the result may come as protobuf. */
  readonly decode?: (bytes: Uint8Array) => T;
}

export interface FutureOptions {
  /** Longest that one piece of work may take, queue included. */
  readonly resultTimeoutMs: number;
  /** Longest that one question may hang; servers hold it for up to five minutes while they work. */
  readonly pollMs: number;
}

const mostResubmissions = 3;
const route = '/retrieve_future';

/**
 * The result of work that `submit` asks for. A server that lost the result (410) is asked for the work again.
 *
 * @throws TurnwiseError `tinker-failed`, `tinker-timeout`, `tinker-expired`, and what `Transport.request` throws
 */
export async function resultOf<T>(
  transport: Transport,
  kind: FutureKind<T>,
  requestId: string,
  resubmit: () => Promise<string>,
  options: FutureOptions,
): Promise<T> {
  const began = performance.now();
  let id = requestId;
  let resubmissions = 0;
  for (;;) {
    const leftMs = options.resultTimeoutMs - (performance.now() - began);
    if (leftMs <= 0) throw tookTooLong(kind.name, options.resultTimeoutMs);
    const reply = await poll(transport, kind, id, Math.ceil(Math.min(options.pollMs, leftMs)));
    if (reply === undefined) continue;
    if (reply.status === 410) {
      if (resubmissions++ === mostResubmissions) throw statusError(410, route, detailOf(reply.bytes));
      id = await resubmit();
      continue;
    }
    if (reply.isProtobuf && kind.decode) return kind.decode(reply.bytes);
    const answer = parseJson(reply, route);
    const { type, status, error, category } = readAnswer(anySchema, answer, `The ${kind.name}`);
    if (type === 'try_again' || status === 'complete_metadata') continue;
    if (typeof error === 'string') throw requestFailed(kind.name, error, String(category ?? 'unknown'));
    return readAnswer(kind.schema, answer, `The ${kind.name}`);
  }
}

/** One question; undefined where it hung for too long, or the server says to ask again. */
async function poll(
  transport: Transport,
  kind: FutureKind<unknown>,
  requestId: string,
  timeoutMs: number,
): Promise<Reply | undefined> {
  try {
    const reply = await transport.request(route, {
      body: { request_id: requestId },
      acceptProtobuf: kind.decode !== undefined,
      timeoutMs,
      expect: [408, 410],
    });
    return reply.status === 408 ? undefined : reply;
  } catch (error) {
    // Some servers say with 400 that the work failed.
    if (TurnwiseError.isInstance(error) && error.fields.status === 400)
      throw requestFailed(kind.name, String(error.fields.detail), 'user');
    throw error;
  }
}
