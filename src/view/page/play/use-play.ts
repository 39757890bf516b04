/** Work of the process that plays: asked for while a part of the page is shown, and stopped when it no longer is. */

import { useEffect, useState } from 'preact/hooks';
import type { PlayEvent, PlayMove } from '../../play/messages.ts';
import type { Problem } from '../../shapes.ts';
import { ask, postJson, Refusal } from '../data/client.ts';
import { listen } from '../data/stream.ts';

export interface Playing {
  readonly id?: string;
  readonly events: readonly PlayEvent[];
  readonly problem?: Problem;
}

const none: Playing = { events: [] };
const lastKinds: ReadonlySet<PlayEvent['kind']> = new Set(['end', 'done', 'problem']);

/** @param asked a request to play as JSON: another one begins anew, undefined asks for nothing */
export function usePlay(asked: string | undefined): Playing & { readonly move: (move: PlayMove) => void } {
  const [state, setState] = useState<Playing>(none);
  useEffect(() => {
    setState(none);
    if (asked === undefined) return;
    const stop = new AbortController();
    let id: string | undefined;
    const failed = (error: unknown): void => {
      if (stop.signal.aborted) return;
      const problem =
        error instanceof Refusal ? error.problem : { code: 'unexpected', message: String(error) };
      setState((before) => ({ ...before, problem }));
    };
    postJson<{ readonly id: string }>('/api/plays', JSON.parse(asked), stop.signal)
      .then(async (opened) => {
        id = opened.id;
        setState({ id, events: [] });
        const ended = new AbortController();
        const signal = AbortSignal.any([stop.signal, ended.signal]);
        await listen(`/api/plays/${id}`, signal, ({ data }) => {
          const event = JSON.parse(data) as PlayEvent;
          if (lastKinds.has(event.kind)) ended.abort();
          setState((before) => ({
            ...before,
            events: [...before.events, event],
            ...(event.kind === 'problem' && { problem: event }),
          }));
        });
      })
      .catch(failed);
    return () => {
      stop.abort();
      if (id !== undefined) void ask(`/api/plays/${id}`, { method: 'DELETE' }).catch(() => {});
    };
  }, [asked]);
  const move = (given: PlayMove): void => {
    if (state.id !== undefined) void postJson(`/api/plays/${state.id}`, given).catch(() => {});
  };
  return { ...state, move };
}
