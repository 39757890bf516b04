/** Server-sent events over fetch: the browser's own reader of them cannot send a key. */

import { request } from './client.ts';
import { type ServerEvent, splitEvents } from './server-events.ts';

const retryMs = 1000;

/**
 * Listen until `signal` is aborted; a connection that was lost is opened again, from the last event that came.
 *
 * @param onLost told when the server is gone, and when it is back
 */
export async function listen(
  path: string,
  signal: AbortSignal,
  onEvent: (event: ServerEvent) => void,
  onLost: (lost: boolean) => void = () => {},
): Promise<void> {
  let last: string | undefined;
  while (!signal.aborted) {
    try {
      const headers = last === undefined ? {} : { 'last-event-id': last };
      const response = await request(path, { signal, headers });
      if (!response.ok || !response.body) throw new Error(`status ${response.status}`);
      onLost(false);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        const { events, rest } = splitEvents(text + value);
        text = rest;
        for (const event of events) {
          last = event.id ?? last;
          onEvent(event);
        }
      }
    } catch {
      // Opened again below.
    }
    if (signal.aborted) return;
    onLost(true);
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}
