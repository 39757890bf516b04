/** A window of turns gives way before an act has no room. */

import { expect, test } from 'vitest';
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
import { lastTurns } from './last-turns.ts';

const ACT = 'go on to the left';
const TURNS = 30;

const world = fromEnvironment(
  defineEnvironment<null, number>({
    name: 'walk',
    description: '',
    maxTurns: TURNS,
    tasks: () => ({ size: 1, at: () => null }),
    start: () => ({ state: 1, messages: [user('walk')] }),
    step: (turn, action) => ({
      ...{ state: turn + 1, observation: 'walked', reward: 0, valid: action === ACT },
      done: turn === TURNS,
    }),
    actions: () => [ACT, 'stay'],
  }),
);

const renderer = wordRenderer(WordTokenizer.fromTexts([ACT, 'walk walked stay']), 5);

const policy: Policy = {
  author: byPolicy('learner', 1),
  complete: async ({ sampling }) => {
    const ids = Int32Array.from(renderer.completionIds(ACT)).slice(0, sampling.maxTokens);
    const by = byPolicy('learner', 1);
    const text = renderer.text(ids);
    return { ids, logprobs: new Float32Array(ids.length), text, finish: 'stop', by, trainable: true };
  },
};

const play = (contextLength: number, choices: boolean): Promise<Episode> =>
  runEpisode(
    { key: madeKey(), task: null },
    {
      ...{ world, policy, renderer, choices, contextLength, maxTurns: TURNS, turnTimeoutMs: 500, seed: 1 },
      context: lastTurns.create({ turns: 8 }),
      sampling: { temperature: 1, topP: 1, topK: 0 },
      ...{ signal: new AbortController().signal, watch: unwatched },
    },
  );

test.each([24, 31, 40, 63, 200])(
  '%d tokens: every act is whole, free or one of the legal ones',
  async (length) => {
    for (const choices of [false, true]) {
      const { stop, calls, transitions } = await play(length, choices);
      expect([stop, calls.length, transitions.every(({ valid }) => valid)]).toEqual(['done', TURNS, true]);
      expect(Math.max(...calls.map(({ ids }) => ids.length))).toBe(6);
    }
  },
);
