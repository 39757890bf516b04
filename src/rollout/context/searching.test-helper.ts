/** A world of seven searches, a player who keeps what it reads, and a check that every sampled token is trained where it was read. */

import { expect } from 'vitest';
import type { Episode, Split } from '../../core/episode.ts';
import { user } from '../../core/messages.ts';
import { promptOf, samplesOf } from '../../core/sample.ts';
import { byPolicy, madeKey } from '../../core/testing/made-episodes.ts';
import { defineEnvironment } from '../../env/environment.ts';
import { fromEnvironment } from '../../env/from-environment.ts';
import { wordRenderer } from '../../model/chat/renderer.ts';
import { WordTokenizer } from '../../model/tokenizer/word-tokenizer.ts';
import type { CompletionRequest, Policy } from '../../policy/policy.ts';
import { runEpisode } from '../episode.ts';
import { unwatched } from '../watch.ts';
import type { ContextStrategy } from './strategy.ts';

export const TURNS = 7;

/** A question, and a result after every search; the seventh ends it. */
const searching = fromEnvironment(
  defineEnvironment<null, { turn: number }>({
    name: 'searching',
    description: '',
    maxTurns: 20,
    tasks: () => ({ size: 1, at: () => null }),
    start: () => ({ state: { turn: 0 }, messages: [user('question')] }),
    step: ({ turn }, action) => ({
      state: { turn: turn + 1 },
      observation: `r${turn + 1}`,
      reward: turn + 1 === TURNS ? 1 : 0,
      done: turn === TURNS,
      success: turn === TURNS,
      valid: action === 'search',
    }),
  }),
);

const words = [
  'question search omitted what mattered was found summarize note left now',
  'names: x y',
  '<call>',
  'load',
];
export const tokenizer = WordTokenizer.fromTexts([
  ...words,
  ...Array.from({ length: 9 }, (_, n) => `r${n} ${n}`),
]);
export const renderer = wordRenderer(tokenizer, 6);

/** A request, and the whole of its prompt. */
export type Read = CompletionRequest & { readonly promptIds: readonly number[] };

/** Says `search`, or what `say` has it say instead, and keeps every prompt. */
export function player(
  say: (request: CompletionRequest, at: number) => string | undefined = () => undefined,
) {
  const requests: Read[] = [];
  let held: readonly number[] = [];
  const policy: Policy = {
    author: byPolicy('learner', 1),
    complete: async (request) => {
      const text = say(request, requests.length) ?? 'search';
      const promptIds = [...held.slice(0, request.keep), ...request.append];
      expect(request.keep).toBeLessThanOrEqual(held.length);
      requests.push({ ...request, promptIds });
      const ids = Int32Array.from(renderer.completionIds(text)).slice(0, request.sampling.maxTokens);
      held = [...promptIds, ...ids];
      return {
        ids,
        logprobs: Float32Array.from(ids, (_, index) => -requests.length - index / 8),
        text,
        finish: 'stop',
        by: byPolicy('learner', 1),
        trainable: true,
      };
    },
  };
  return { policy, requests, read: () => requests.map(({ promptIds }) => tokenizer.decode([...promptIds])) };
}

export function play(
  strategy: ContextStrategy,
  options: object,
  policy: Policy,
  { contextLength = 200, ...more }: { readonly trained?: boolean; readonly contextLength?: number } = {},
  split: Split = 'train',
): Promise<Episode> {
  return runEpisode(
    { key: madeKey({ split }), task: null },
    {
      world: searching,
      policy,
      renderer,
      context: strategy.create(options, more),
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: 12,
      contextLength,
      turnTimeoutMs: 500,
      seed: 1,
      signal: new AbortController().signal,
      watch: unwatched,
    },
  );
}

/** Each sampled token is in the loss of exactly one sample, behind the prompt that the policy read. */
export function expectExact({ calls }: Episode, episode: Episode, requests: readonly Read[]): void {
  const acts = calls.filter(({ trainable }) => trainable === true);
  const counts = new Map(acts.map(({ id }) => [id, 0]));
  for (const { mask_T, call_T, ids_T, logprobs_T } of samplesOf(
    { step: 1, group: 0, members: [episode] },
    'learner',
  )) {
    for (const id of new Set(call_T.filter((call) => call >= 0))) {
      const first = call_T.indexOf(id);
      const call = calls.find((one) => one.id === id)!;
      const last = first + call.ids.length;
      counts.set(id, counts.get(id)! + mask_T.slice(first, last).reduce((sum, one) => sum + one, 0));
      expect(ids_T.slice(first, last)).toEqual(call.ids);
      expect(logprobs_T.slice(first, last)).toEqual(call.logprobs);
      expect([...ids_T.slice(0, first)]).toEqual([...requests[id]!.promptIds]);
    }
  }
  for (const { id, ids } of acts) expect([id, counts.get(id)]).toEqual([id, ids.length]);
  for (const [index, call] of calls.entries()) {
    expect([...promptOf(call, calls)]).toEqual([...requests[index]!.promptIds]);
  }
}
