/** A document that brings its own answers, and has no server to ask. */

import { decodeSeries, encodeSeries } from '../../series.ts';

/** Where it begins. Absent on a page that a server sent. */
export const bundleStart = document.querySelector<HTMLMetaElement>('meta[name="turnwise-bundle"]')?.content;

const blocks = new Map(
  [...document.querySelectorAll<HTMLElement>('script[data-answers]')].map((block) => [
    block.dataset.answers!,
    block,
  ]),
);

/** Undefined where it knows nothing of the path. */
type Answers = (path: string) => Promise<unknown> | undefined;

let made: Answers | undefined;

/** Answers that a script of this document makes: a run that goes on in this tab has its episodes here. */
export function answerWith(answers: Answers): void {
  made = answers;
}

async function unpacked(path: string): Promise<ArrayBuffer | undefined> {
  const text = blocks.get(path)?.textContent;
  if (text == null) return undefined;
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

/** As the server would have answered; what was left out is refused in words. */
export async function bundledAnswer(path: string, init: RequestInit): Promise<Response> {
  // What happens later happens elsewhere.
  if (path.startsWith('/api/live')) {
    return new Promise((_, reject) => {
      init.signal?.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
    });
  }
  const answer = made?.(path);
  if (answer) {
    return answer.then(
      (value) => Response.json(value),
      (error: unknown) => Response.json({ error }, { status: 404 }),
    );
  }
  const [plain = '', query = ''] = path.split('?');
  const body = await unpacked(path.includes('/metrics?') ? plain : path);
  if (!body) {
    const message = 'This document does not hold it. The run itself has it: turnwise view';
    return Response.json({ error: { code: 'not-in-bundle', message } }, { status: 404 });
  }
  if (!plain.endsWith('/metrics')) return new Response(body);
  const names = (new URLSearchParams(query).get('names') ?? '').split(',');
  const table = decodeSeries(body);
  const series = Object.fromEntries(
    names.flatMap((name) => (table.series[name] ? [[name, table.series[name]]] : [])),
  );
  return new Response(encodeSeries({ ...table, series }) as Uint8Array<ArrayBuffer>);
}
