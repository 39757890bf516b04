/** What did the run say? Its events, the newest last. */

import { useState } from 'preact/hooks';
import type { LogPage as Page } from '../../server/log-page.ts';
import { askJson, runPath } from '../data/client.ts';
import { useLoaded } from '../data/loaded.ts';
import { Failed, Waiting } from '../parts/states.tsx';
import { number } from '../text/format.ts';
import { oneLine, safeText } from '../text/safe-text.ts';
import { TabPage } from './tab-page.tsx';

export function LogPage({ run }: { readonly run: string }) {
  return (
    <TabPage run={run} tab="log">
      {(_, version) => <Log run={run} version={version} />}
    </TabPage>
  );
}

function Log({ run, version }: { readonly run: string; readonly version: number }) {
  const { value: last, problem } = useLoaded<Page>(runPath(run, '/log'), 1 + version);
  const [earlier, setEarlier] = useState<readonly Page[]>([]);
  if (problem) return <Failed problem={problem} />;
  if (!last) return <Waiting lines={10} />;
  const pages = [...earlier, last];
  const from = pages[0]!.from;
  const load = async (): Promise<void> => {
    const page = await askJson<Page>(runPath(run, `/log?before=${from}`));
    setEarlier([page, ...earlier]);
  };
  return (
    <section class="card flush" aria-label="Log">
      {from > 0 && (
        <p class="empty">
          <button type="button" onClick={() => void load()}>
            Earlier
          </button>
        </p>
      )}
      <ol class="log">
        {pages.flatMap(({ lines, from: start }) =>
          lines.map((line, index) => (
            <li key={`${start} ${index}`}>
              <Line line={line} />
            </li>
          )),
        )}
      </ol>
    </section>
  );
}

function Line({ line }: { readonly line: string }) {
  const event = parsed(line);
  if (!event) {
    return (
      <p>
        <span class="red">damaged</span> <code>{oneLine(line, 200)}</code>
      </p>
    );
  }
  const { type, time, ...rest } = event;
  return (
    <details>
      <summary>
        <time class="ink3">{time.slice(11, 19)}</time>{' '}
        <span class={type === 'warning' ? 'red' : ''}>{oneLine(type, 24)}</span>{' '}
        <span class="ink2">{told(type, rest)}</span>
      </summary>
      <pre>{safeText(JSON.stringify(rest, null, 1))}</pre>
    </details>
  );
}

interface Told {
  readonly type: string;
  readonly time: string;
  readonly [field: string]: unknown;
}

function parsed(line: string): Told | undefined {
  try {
    const event = JSON.parse(line) as Told | null;
    return typeof event?.type === 'string' && typeof event.time === 'string' ? event : undefined;
  } catch {
    return undefined;
  }
}

/** The fields that are words or numbers, in a line; the one that is called as the event itself without its name. */
function told(type: string, rest: Readonly<Record<string, unknown>>): string {
  const plain = Object.entries(rest).flatMap(([key, value]) => {
    const text = typeof value === 'number' ? number(value) : typeof value === 'string' ? value : undefined;
    return text === undefined ? [] : [key === type ? text : `${key} ${text}`];
  });
  return oneLine(plain.join(' · '), 160);
}
