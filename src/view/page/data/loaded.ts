/** What a part of a page waits for. Answers are kept for a while, so that going back shows them at once. */

import { useEffect, useState } from 'preact/hooks';
import type { Problem } from '../../shapes.ts';
import { askJson, Refusal } from './client.ts';

export interface Loaded<T> {
  readonly value?: T;
  readonly problem?: Problem;
}

type Load = (signal?: AbortSignal) => Promise<unknown>;

const kept = 64;
const answers = new Map<string, unknown>();

function keep(key: string, value: unknown): void {
  answers.delete(key);
  answers.set(key, value);
  const oldest = answers.size > kept ? answers.keys().next().value : undefined;
  if (oldest !== undefined) answers.delete(oldest);
}

/** Drop what was answered under keys that begin so. */
export function forget(prefix: string): void {
  for (const key of answers.keys()) if (key.startsWith(prefix)) answers.delete(key);
}

/** Ask before anybody waits. */
export function prefetch(path: string): void {
  if (answers.has(path)) return;
  askJson(path).then(
    (value) => keep(path, value),
    () => {},
  );
}

/**
 * What `path` answers, or what `load` does; undefined is nothing to ask. With another `version`, it is asked again while the
 * old answer stays.
 */
export function useLoaded<T>(path: string | undefined, version = 0, load?: Load): Loaded<T> {
  const [state, setState] = useState<{ readonly path?: string; readonly loaded: Loaded<T> }>({ loaded: {} });
  useEffect(() => {
    if (path === undefined) return;
    const known = answers.has(path);
    if (known) setState({ path, loaded: { value: answers.get(path) as T } });
    if (known && version === 0) return;
    const stop = new AbortController();
    (load?.(stop.signal) ?? askJson<T>(path, stop.signal)).then(
      (value) => {
        keep(path, value);
        if (!stop.signal.aborted) setState({ path, loaded: { value: value as T } });
      },
      (error: unknown) => {
        if (stop.signal.aborted) return;
        const problem =
          error instanceof Refusal ? error.problem : { code: 'unexpected', message: String(error) };
        setState({ path, loaded: { problem } });
      },
    );
    return () => stop.abort();
  }, [path, version]);
  if (path !== undefined && state.path !== path) {
    return answers.has(path) ? { value: answers.get(path) as T } : {};
  }
  return state.loaded;
}
