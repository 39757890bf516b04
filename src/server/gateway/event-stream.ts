/** Server-sent events, as they come; where none comes for a while, comments keep the line from falling silent. */

import type { ApiErrorParts } from './api-error.ts';
import { ApiError, internalError } from './api-error.ts';
import type { StreamEvent } from './dialects/dialect.ts';

export interface EventStreamOptions {
  /** What failed after the stream began. */
  readonly failed: (error: ApiErrorParts) => StreamEvent;
  readonly silenceMs: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The client has gone. */
  readonly cancelled: () => void;
}

/**
 * The events of an answer that may take its time. One that fails before its first event, and before the first silence is over, is
 * thrown, so that it still becomes an error with a status.
 */
export async function eventStream(
  events: AsyncIterable<StreamEvent>,
  { failed, silenceMs, headers, cancelled }: EventStreamOptions,
): Promise<Response> {
  const lines = events[Symbol.asyncIterator]();
  const ask = (): Promise<IteratorResult<StreamEvent>> => {
    const next = lines.next();
    // It may fail when nobody listens any more.
    next.catch(() => {});
    return next;
  };
  let next: Promise<IteratorResult<StreamEvent>> | undefined = ask();
  let isSilent = (await withinSilence(next, silenceMs)) === undefined;
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const say = (text: string): void => controller.enqueue(encoder.encode(text));
      try {
        next ??= ask();
        const line = isSilent ? undefined : await withinSilence(next, silenceMs);
        isSilent = false;
        if (line === undefined) return say(WAIT);
        next = undefined;
        if (line.done) controller.close();
        else say(written(line.value));
      } catch (error) {
        say(written(failed((error instanceof ApiError ? error : internalError(error)).parts)));
        controller.close();
      }
    },
    cancel: cancelled,
  });
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...headers },
  });
}

const WAIT = ': wait\n\n';

async function withinSilence<T>(work: Promise<T>, silenceMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), silenceMs);
  });
  try {
    return await Promise.race([work, silence]);
  } finally {
    clearTimeout(timer);
  }
}

function written({ event: name, data }: StreamEvent): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`;
}
