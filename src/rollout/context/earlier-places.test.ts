/** Starts at places of earlier steps: the state of a context comes back from the stored episode alone, or the start is refused. */

import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Episode } from '../../core/episode.ts';
import { user } from '../../core/messages.ts';
import { promptOf } from '../../core/sample.ts';
import { byPolicy } from '../../core/testing/made-episodes.ts';
import { defineEnvironment } from '../../env/environment.ts';
import { fromEnvironment } from '../../env/from-environment.ts';
import { wordRenderer } from '../../model/chat/renderer.ts';
import { WordTokenizer } from '../../model/tokenizer/word-tokenizer.ts';
import { Lockstep } from '../../policy/lockstep.ts';
import type { Policy } from '../../policy/policy.ts';
import { groupLines, parseEpisode } from '../../store/rollouts/episode-line.ts';
import { collectGroups, type GroupToPlay } from '../collect.ts';
import { prefixAt } from '../turns/copied-prefix.ts';
import { unwatched } from '../watch.ts';
import { type ContextStrategy, defineContext } from './strategy.ts';

const TURNS = 4;
const tokenizer = WordTokenizer.fromTexts(['ask a b c d look 0 1 2 3 4 5 6 7 8 9']);
const renderer = wordRenderer(tokenizer, 2);

const counting = fromEnvironment(
  defineEnvironment<null, { at: number }>({
    name: 'counting',
    description: '',
    maxTurns: TURNS,
    tasks: () => ({ size: 1, at: () => null }),
    start: () => ({ state: { at: 0 }, messages: [user('0')] }),
    step: ({ at }) => ({
      state: { at: at + 1 },
      observation: `${at + 1}`,
      reward: 1,
      done: at === TURNS - 1,
      valid: true,
    }),
  }),
);

/** Draws a number before each act, asks about it, answers a first look itself, and shows all that it drew. */
function drawing(draw: (next: () => number) => number): ContextStrategy {
  return defineContext({
    name: 'drawing',
    summary: '',
    options: z.strictObject({}),
    start: (): { drawn: number[]; looked: boolean } => ({ drawn: [], looked: false }),
    async window({ fresh, state, rng }, ask) {
      const drawn = [...state.drawn, draw(() => rng.int(10))];
      const said = user(drawn.join(' '));
      const { id } = await ask('note', { parts: [said, user('ask')] });
      return { conversation: { parts: [said, { call: id }, ...fresh] }, state: { ...state, drawn } };
    },
    answer: (call, { state }) =>
      call.text === 'look' && !state.looked
        ? { messages: [user('look')], state: { ...state, looked: true } }
        : undefined,
  });
}

/** Says the words of each turn one after another. */
const saying = (...words: readonly string[]): Policy => {
  let next = 0;
  return {
    author: byPolicy('learner', 1),
    complete: async () => {
      const text = words[next++ % words.length]!;
      const ids = Int32Array.from(renderer.completionIds(text));
      const logprobs = Float32Array.from(ids, () => -1);
      return { ids, logprobs, text, finish: 'stop', by: byPolicy('learner', 1), trainable: true };
    },
  };
};

async function play(
  strategy: ContextStrategy,
  words: readonly string[],
  request: Partial<GroupToPlay> = {},
): Promise<Episode> {
  const whole = { step: 1, group: 0, split: 'train' as const, index: 0, task: null, members: 1 };
  const [group] = await collectGroups([{ ...whole, ...request }], {
    world: counting,
    policy: saying(...words),
    renderer,
    context: strategy.create(),
    sampling: { temperature: 1, topP: 1, topK: 0 },
    // What the context answers counts as a turn.
    maxTurns: TURNS + 1,
    contextLength: 200,
    turnTimeoutMs: 1000,
    seed: 1,
    signal: new AbortController().signal,
    watch: unwatched,
    batching: new Lockstep(),
    concurrency: 1,
  });
  return group!.members[0]!;
}

const promptsIn = ({ calls }: Episode): string[] =>
  calls.map((call) => tokenizer.decode([...promptOf(call, calls)]));

/** As a later step, or another process, reads it. */
function stored(episode: Episode): Episode {
  const [line] = groupLines({ step: 1, group: 0, members: [episode] });
  return parseEpisode(line!, 'a test').episode;
}

const words = ['a', 'look', 'b', 'c', 'd', 'a', 'b', 'c', 'd', 'a'];

test('a context that asks, answers and draws goes on from the state that it had at the place', async () => {
  const origin = await play(
    drawing((next) => next()),
    words,
  );
  expect(origin).toMatchObject({ stop: 'done' });
  const place = { episode: origin.key, transition: 1 };
  const copied = prefixAt(stored(origin), stored(origin), place);
  expect(copied.calls.map(({ purpose }) => purpose)).toEqual(['note', 'act', 'note', 'act', 'note', 'act']);
  const again = await play(
    drawing((next) => next()),
    ['d', 'd'],
    { step: 2, copied },
  );
  expect(again).toMatchObject({ stop: 'done', startedAt: [place] });
  const count = copied.calls.length;
  expect(promptsIn(again).slice(0, count)).toEqual(promptsIn(origin).slice(0, count));
  expect(again.calls.map(({ trainable }) => trainable)).toEqual([
    ...copied.calls.map(() => 'earlier'),
    ...again.calls.slice(count).map(() => true),
  ]);
  // What it drew up to the place is in its state, and from there on it draws for itself.
  const [asked, acts] = [promptsIn(again)[count]!, promptsIn(origin)];
  const drawn = (prompt: string): string[] => prompt.match(/\d/g)!;
  expect(drawn(asked).slice(0, 3)).toEqual(drawn(acts[count]!).slice(0, 3));
  const own = (episode: Episode): string[] =>
    drawn(promptsIn(episode)[episode.calls.length - 2]!).slice(copied.calls.length / 2);
  expect(own(again)).not.toEqual(own(origin));
});

test('a context whose state cannot be had again ends the episode, and says why', async () => {
  let clock = 0;
  const strategy = drawing(() => clock++ % 10);
  const origin = await play(strategy, words);
  const copied = prefixAt(stored(origin), stored(origin), { episode: origin.key, transition: 1 });
  const again = await play(strategy, ['d', 'd'], { step: 2, copied });
  expect(again.stop).toBe('failed:policy');
  expect(again.failure).toBe(
    'starting 2/0/0 at a place of an earlier step: Context "drawing" built another prompt for call 0 ("note") than it did there, so its state cannot be had again; it may read a clock, Math.random(), a variable outside its state, or `limit`',
  );
});
