/** Nothing that a strategy does ends more than its episode, and each failure says whose it is and what is allowed. */

import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Episode } from '../../core/episode.ts';
import { user } from '../../core/messages.ts';
import { byPolicy, madeKey } from '../../core/testing/made-episodes.ts';
import { defineEnvironment } from '../../env/environment.ts';
import { fromEnvironment } from '../../env/from-environment.ts';
import { wordRenderer } from '../../model/chat/renderer.ts';
import { WordTokenizer } from '../../model/tokenizer/word-tokenizer.ts';
import type { Policy } from '../../policy/policy.ts';
import { runEpisode } from '../episode.ts';
import { unwatched } from '../watch.ts';
import { type Ask, defineContext, type StrategyParts, type View, type Window } from './strategy.ts';

const counting = fromEnvironment(
  defineEnvironment<null, { at: number }>({
    name: 'counting',
    description: '',
    maxTurns: 3,
    tasks: () => ({ size: 1, at: () => null }),
    start: () => ({ state: { at: 0 }, messages: [user('a')] }),
    step: ({ at }) => ({
      state: { at: at + 1 },
      observation: 'b',
      reward: 0,
      done: at === 2,
      success: true,
      valid: true,
    }),
  }),
);
const tokenizer = WordTokenizer.fromTexts(['a b c']);
const renderer = wordRenderer(tokenizer, 2);

function policy(fails = false): Policy {
  return {
    author: byPolicy('learner'),
    complete: async () => {
      if (fails) throw new Error('no weights');
      return {
        ids: Int32Array.from(renderer.completionIds('c')),
        logprobs: new Float32Array(2),
        text: 'c',
        finish: 'stop',
        by: byPolicy('learner'),
        trainable: true,
      };
    },
  };
}

const play = (
  parts: Partial<StrategyParts<object, null>>,
  by = policy(),
  contextLength = 60,
): Promise<Episode> =>
  runEpisode(
    { key: madeKey(), task: null },
    {
      world: counting,
      policy: by,
      renderer,
      context: defineContext({
        name: 'mine',
        summary: '',
        options: z.strictObject({}),
        start: () => null,
        window: ({ fresh, state }) => ({ conversation: { parts: fresh }, state }),
        ...parts,
      }).create({}, { subject: 'Context "mine" of /mine.ts' }),
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: 5,
      contextLength,
      turnTimeoutMs: 40,
      seed: 1,
      signal: new AbortController().signal,
      watch: unwatched,
    },
  );

const given = (value: unknown): Window<null> => value as Window<null>;
const before = { parts: [user('a')] };

test.each<[string, (view: View<object, null>, ask: Ask) => Window<null> | Promise<Window<null>>, RegExp]>([
  [
    'throws',
    () => {
      throw new Error('out of ideas');
    },
    /threw an error\. Seen: out of ideas/,
  ],
  [
    'rejects',
    async () => {
      throw new Error('out of ideas');
    },
    /threw an error\. Seen: out of ideas/,
  ],
  ['gives nothing', () => given(undefined), /must return a window\. Seen: undefined/],
  ['gives no state', () => given({ conversation: before }), /must return a window/],
  [
    'gives a state that is no JSON',
    () => given({ conversation: before, state: { at: () => 1 } }),
    /plain JSON as state/,
  ],
  ['gives no parts', () => given({ conversation: {}, state: null }), /must give conversations/],
  ['gives no tokens', () => given({ conversation: { parts: [] }, state: null }), /at least one token/],
  [
    'gives what is no part',
    () => given({ conversation: { parts: [{ role: 'king' }] }, state: null }),
    /must give messages/,
  ],
  [
    'declares a tool twice',
    () => given({ conversation: { ...before, tools: [{ name: 'find' }, { name: 'find' }] }, state: null }),
    /must declare each tool once\. Seen: "?find/,
  ],
  [
    'names a call of nobody',
    () => given({ conversation: { parts: [{ call: 7 }] }, state: null }),
    /names a call that is not in its conversation\. Seen: 7/,
  ],
  [
    'goes on from a call before the first',
    () => given({ conversation: { goesOn: true, parts: before.parts }, state: null }),
    /must say what it goes on from\. Seen: true/,
  ],
  [
    'asks for acts',
    async (view, ask) => {
      await ask('act', before);
      return given({ conversation: before, state: view.state });
    },
    /asks for no known purpose/,
  ],
  [
    'asks and does not wait',
    (view, ask) => {
      void ask('plan', before).catch(() => {});
      return given({ conversation: before, state: view.state });
    },
    /must wait for its questions/,
  ],
  [
    'asks without end',
    async (_, ask) => {
      for (;;) await ask('plan', before);
    },
    /asks without end/,
  ],
])('a context that %s ends its episode by its name', async (_, window, message) => {
  const episode = await play({ window });
  expect(episode.stop).toBe('failed:policy');
  expect(episode.failure).toMatch(message);
  expect(episode.failure).toMatch(/building the context of .*Context "mine" of \/mine\.ts/);
});

test('a context that never comes back is timed out; waiting for what it asks is not its time', async () => {
  expect(await play({ window: () => new Promise(() => {}) })).toMatchObject({ stop: 'timeout' });
  const slow: Policy = {
    author: byPolicy('learner'),
    complete: async (request) => {
      await new Promise((resolve) => setTimeout(resolve, 60));
      return policy().complete(request);
    },
  };
  const asking = async (view: View<object, null>, ask: Ask): Promise<Window<null>> => {
    const plan = view.calls.length === 0 ? await ask('plan', before) : undefined;
    return { conversation: { parts: [...view.fresh, ...(plan ? [{ call: plan.id }] : [])] }, state: null };
  };
  expect(await play({ window: asking }, slow)).toMatchObject({ stop: 'done' });
});

test('what is asked fails as acts fail, whatever the context makes of it; without room it overflows', async () => {
  const catching = async (view: View<object, null>, ask: Ask): Promise<Window<null>> => {
    await ask('plan', { parts: new Array(20).fill(user('a')) }).catch(() => {});
    return { conversation: { parts: view.fresh }, state: null };
  };
  expect(await play({ window: catching }, policy(true))).toMatchObject({
    stop: 'failed:policy',
    failure: expect.stringContaining('no weights'),
  });
  const overflow = await play({ window: catching }, policy(), 15);
  expect(overflow).toMatchObject({ stop: 'context-overflow', calls: [] });
  expect(overflow).not.toHaveProperty('failure');
});

test('answers are checked, and a state is the strategy’s own', async () => {
  const wrong = await play({ answer: () => ({ messages: 'yes', state: null }) as never });
  expect(wrong).toMatchObject({
    stop: 'failed:policy',
    failure: expect.stringContaining('answering in the context of'),
  });
  const seen: number[] = [];
  const kept = { count: 0 };
  const changing = defineContext<object, { count: number }>({
    name: 'changing',
    summary: '',
    options: z.strictObject({}),
    start: () => kept,
    window: ({ fresh, state }) => {
      seen.push(state.count);
      const next = { count: state.count + 1 };
      kept.count = 99;
      return { conversation: { parts: fresh }, state: next };
    },
  });
  await play(changing as Partial<StrategyParts<object, null>>);
  expect(seen).toEqual([0, 1, 2]);
});
