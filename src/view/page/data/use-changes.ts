/** What goes on while a page is open, for those that ask again instead of following each event. */

import { useEffect, useState } from 'preact/hooks';
import { listen } from './stream.ts';

/** Not more often than people look. */
const everyMs = 4000;

/** Goes up when the server tells of something at `path`; undefined is nothing to listen to. */
export function useChanges(path: string | undefined): number {
  const [version, setVersion] = useState(0);
  useEffect(() => {
    if (path === undefined) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let from = 0;
    void listen(path, stop.signal, ({ event }) => {
      if (event === 'hello') return;
      timer ??= setTimeout(
        () => {
          timer = undefined;
          from = performance.now() + everyMs;
          setVersion((before) => before + 1);
        },
        Math.max(0, from - performance.now()),
      );
    });
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [path]);
  return version;
}
