/** Server-sent events over fetch: the browser's own reader of them cannot send a key. */

import { request } from './client.ts';

export interface ServerEvent {
  readonly event: string;
  readonly id?: string;
  readonly data: string;
}

const retryMs = 1000;

/** The events in what has arrived, and what is left of an unfinished one. */
export function splitEvents(text: string): { readonly events: ServerEvent[]; readonly rest: string } {
  const blocks = text.split('\n\n');
  const rest = blocks.pop() ?? '';
  const events = blocks.flatMap((block): ServerEvent[] => {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      const [, name, value = ''] = /^([a-z]+): ?(.*)$/s.exec(line) ?? [];
      if (name === undefined) continue;
      const before = fields.get(name);
      fields.set(name, before === undefined ? value : `${before}\n${value}`);
    }
    const data = fields.get('data');
    const id = fields.get('id');
    return data === undefined
      ? []
      : [{ event: fields.get('event') ?? 'message', data, ...(id !== undefined && { id }) }];
  });
  return { events, rest };
}

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
