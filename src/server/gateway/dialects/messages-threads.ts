/**
 * Threads of `/messages`, by which a client sends only what is new. They are told apart from histories by the id of the latest
 * answer, and go on from it once. What cannot be done is refused by a code on which clients send the whole history instead.
 */

import { z } from 'zod';
import { ApiError } from '../api-error.ts';
import { type Kept, type Reading, refOf } from './dialect.ts';

export const threadSchema = z.union([
  z.object({ type: z.literal('create') }),
  z.object({ type: z.literal('continue'), previous_message_id: z.string() }),
  z.looseObject({ type: z.string() }).transform(() => ({ type: 'unknown' as const })),
]);
type Thread = z.output<typeof threadSchema>;

/** What a thread goes on from. @throws ApiError 400 */
export function threadOf(id: string, reading: Reading): Kept {
  const kept = id.startsWith('msg_') ? reading.kept(refOf(id)) : undefined;
  if (kept?.exchange.keeps !== 'thread') {
    throw threadError('thread_not_found', `There is no thread at "${id}" in this session.`);
  }
  if (kept.continued === 'in-flight') {
    throw threadError('thread_continue_in_flight', `The thread at "${id}" is already continuing.`);
  }
  if (kept.continued === 'continued') {
    throw threadError('thread_already_continued', `The thread at "${id}" went on from there before.`);
  }
  return kept;
}

/**
 * Goes on with a thread, so that nobody else does.
 *
 * @returns what to call once it is answered or has failed
 * @throws ApiError 400
 */
export function claimThread(
  thread: Thread | null | undefined,
  reading: Reading,
): ((answered: boolean) => void) | undefined {
  if (thread?.type === 'unknown') {
    throw threadError('thread_unsupported_request', 'A thread is created or continued here.', ['thread']);
  }
  if (thread?.type !== 'continue') return undefined;
  const kept = threadOf(thread.previous_message_id, reading);
  kept.continued = 'in-flight';
  return (answered) => {
    kept.continued = answered ? 'continued' : 'not';
  };
}

function threadError(code: string, message: string, unsupported?: readonly string[]): ApiError {
  const details = { error_code: code, ...(unsupported && { unsupported }) };
  return new ApiError({
    status: 400,
    type: 'invalid_request_error',
    code,
    message,
    param: 'thread',
    details,
  });
}
