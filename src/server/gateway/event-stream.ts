/** Server-sent events. An answer is streamed once it is there; until then comments keep the line from falling silent. */

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
 * The events of an answer that may take its time. One that fails before the first silence is over is thrown, so that it
 * still becomes an error with a status.
 */
export async function eventStream(
  answer: Promise<Iterable<StreamEvent>>,
  options: EventStreamOptions,
): Promise<Response> {
  const early = await withinSilence(answer, options.silenceMs);
  const events = early === undefined ? slowEvents(answer, options) : early;
  const encoder = new TextEncoder();
  const lines = Symbol.asyncIterator in events ? events[Symbol.asyncIterator]() : events[Symbol.iterator]();
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const next = await lines.next();
      if (next.done) controller.close();
      else controller.enqueue(encoder.encode(written(next.value)));
    },
    cancel: options.cancelled,
  });
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...options.headers },
  });
}

const WAIT = ': wait\n\n';

async function* slowEvents(
  answer: Promise<Iterable<StreamEvent>>,
  { failed, silenceMs }: EventStreamOptions,
): AsyncGenerator<StreamEvent | typeof WAIT> {
  try {
    for (;;) {
      yield WAIT;
      const events = await withinSilence(answer, silenceMs);
      if (events !== undefined) return yield* events;
    }
  } catch (error) {
    yield failed((error instanceof ApiError ? error : internalError(error)).parts);
  }
}

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

function written(event: StreamEvent | typeof WAIT): string {
  if (event === WAIT) return event;
  const { event: name, data } = event as StreamEvent;
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`;
}
