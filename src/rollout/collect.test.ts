import { getEventListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { TurnwiseError } from '../core/errors.ts';
import { user } from '../core/messages.ts';
import { madeKey } from '../core/testing/made-episodes.ts';
import { defineEnvironment } from '../env/environment.ts';
import { fromEnvironment } from '../env/from-environment.ts';
import type { World } from '../env/world.ts';
import { wordRenderer } from '../model/chat/renderer.ts';
import { WordTokenizer } from '../model/tokenizer/word-tokenizer.ts';
import { type Batching, continuous } from '../policy/batching.ts';
import { enginePolicy } from '../policy/engine-policy.ts';
import { Lockstep } from '../policy/lockstep.ts';
import type { Sampler } from '../policy/sampler.ts';
import { type CollectOptions, playEpisodes } from './collect.ts';
import { fullContext } from './context/contexts.ts';
import { unwatched } from './watch.ts';

const CONCURRENCY = 4;
const EPISODES = 12;
const TURNS = 6;

const counting = fromEnvironment(
  defineEnvironment<null, number>({
    name: 'counting',
    description: 'count',
    maxTurns: TURNS,
    tasks: () => ({ size: 1, at: () => null }),
    start: () => ({ state: 0, messages: [user('on')] }),
    step: (at) => ({ state: at + 1, observation: 'on', reward: 0, done: false, valid: true }),
  }),
);

/** A world whose sessions take a while to close. */
function watched() {
  const seen = { opened: 0, closed: 0 };
  const world: World = {
    ...counting,
    open: async (...asked) => {
      const session = await counting.open(...asked);
      seen.opened++;
      const close = session.close.bind(session);
      return Object.assign(session, {
        close: async () => {
          await wait(5);
          await close();
          seen.closed++;
        },
      });
    },
  };
  return { seen, world };
}

const tokenizer = WordTokenizer.fromTexts(['on']);
const renderer = wordRenderer(tokenizer, 1);

/** An engine that fails in the second turn of the second episode, and answers all others after a while. */
function failing(): Sampler {
  const asked = new Map<string, number>();
  return {
    version: 1,
    sample: async ({ conversation }) => {
      const turn = (asked.get(conversation) ?? 0) + 1;
      asked.set(conversation, turn);
      await wait(1);
      if (turn === 2 && conversation.includes('/0/1/'))
        throw new TurnwiseError('engine-failed', { what: 'The engine has no memory' });
      await wait(2);
      return {
        ids: Int32Array.from(tokenizer.encode('on')),
        logprobs: new Float32Array(1),
        finish: 'length',
        version: 1,
      };
    },
    publish: async () => 1,
    release: () => {},
  };
}

const { signal } = new AbortController();
const optionsOf = (batching: Batching, more: Partial<CollectOptions> = {}): CollectOptions => ({
  world: counting,
  policy: enginePolicy(failing(), renderer, batching),
  renderer,
  context: fullContext,
  sampling: { temperature: 1, topP: 1, topK: 0 },
  maxTurns: TURNS,
  contextLength: 100,
  turnTimeoutMs: 1000,
  seed: 1,
  signal,
  watch: unwatched,
  batching,
  concurrency: CONCURRENCY,
  ...more,
});
const episodes = Array.from({ length: EPISODES }, (_, member) => ({ key: madeKey({ member }), task: null }));

test.each([
  ['lockstep', () => new Lockstep()],
  ['continuous', () => continuous],
])(
  '%s: what ends the run in an episode ends the others, and is thrown when all are closed',
  async (_, batchingOf) => {
    const { seen, world } = watched();
    const playing = playEpisodes(episodes, optionsOf(batchingOf(), { world }));
    await expect(playing).rejects.toThrow('The engine has no memory');
    expect(seen).toEqual({ opened: CONCURRENCY, closed: CONCURRENCY });
    await wait(20);
    expect(seen.opened).toBe(CONCURRENCY);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  },
);

test('the first failure is thrown, not what it led to', async () => {
  const play: CollectOptions['play'] = async ({ key }, own) => {
    if (key.member === 1) throw new TurnwiseError('engine-failed', { what: 'The engine has no memory' });
    await new Promise((end) => own.signal.addEventListener('abort', end));
    throw new Error('A play of its own was interrupted');
  };
  await expect(playEpisodes(episodes, optionsOf(continuous, { play }))).rejects.toThrow('no memory');
});

test('where the run was asked to stop that is thrown, whatever the episodes say to it', async () => {
  const stop = new AbortController();
  const play: CollectOptions['play'] = async (_, own) => {
    setImmediate(() => stop.abort());
    await new Promise((end) => own.signal.addEventListener('abort', end));
    throw new Error('A play of its own was interrupted');
  };
  const playing = playEpisodes(episodes, optionsOf(continuous, { play, signal: stop.signal }));
  await expect(playing).rejects.toMatchObject({ code: 'cancelled' });
});
