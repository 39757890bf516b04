/** The record as it is stored: its beginning to read, and all of it to keep. */

import { useEffect, useState } from 'preact/hooks';
import { ask } from '../data/client.ts';
import { saveFile } from '../parts/save.ts';
import { bytes } from '../text/format.ts';
import { safeText } from '../text/safe-text.ts';

const shownCharacters = 32 * 1024;

export function RawRecord({ path }: { readonly path: string }) {
  const [text, setText] = useState<string | undefined>();
  useEffect(() => {
    const stop = new AbortController();
    ask(path, { signal: stop.signal })
      .then((response) => response.text())
      .then(setText, () => {});
    return () => stop.abort();
  }, [path]);
  if (text === undefined) return null;
  const save = (): void => saveFile('episode.json', text, 'application/json');
  return (
    <section class="raw" aria-label="Raw record">
      <p>
        <button type="button" onClick={save}>
          Save as a file
        </button>{' '}
        <span class="ink2 small">
          {text.length > shownCharacters
            ? `The first ${bytes(shownCharacters)} of ${bytes(text.length)}`
            : bytes(text.length)}
        </span>
      </p>
      <pre tabIndex={0}>{safeText(text.slice(0, shownCharacters))}</pre>
    </section>
  );
}
