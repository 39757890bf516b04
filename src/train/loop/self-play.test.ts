import { expect, test } from 'vitest';
import { user } from '../../core/messages.ts';
import { fromGame } from '../../env/from-game.ts';
import { defineGame } from '../../env/game.ts';
import { wordRenderer } from '../../model/chat/renderer.ts';
import { WordTokenizer } from '../../model/tokenizer/word-tokenizer.ts';
import { fullContext } from '../../rollout/context/contexts.ts';
import { unwatched } from '../../rollout/watch.ts';
import { fakeEngine } from '../../testing/fake-engine.ts';
import type { Learner } from '../kit/learner.ts';
import { type AverageStrategy, measureSelfPlay, type SelfPlay, treeOf } from './self-play.ts';

type State = { readonly first: string | null; readonly second: string | null };

/** Matching pennies: the first wins where they differ, the second where they match; the second does not see. */
const pennies = fromGame(
  defineGame<null, State>({
    name: 'pennies',
    description: '',
    roles: ['first', 'second'],
    maxTurns: 1,
    tasks: () => ({ size: 1, at: () => null }),
    start: () => ({ first: null, second: null }),
    toMove: ({ first, second }) => (first === null ? 'first' : second === null ? 'second' : undefined),
    observe: (_state, role) => [user(`you:${role}`)],
    step: (state, role, action) => {
      const next = { ...state, [role]: action };
      const gain = role === 'first' ? 0 : next.first === next.second ? -1 : 1;
      return { state: next, rewards: { first: gain, second: -gain }, done: role === 'second', valid: true };
    },
    anchor: (_state, role) => role,
    actions: () => ['say heads', 'say tails'],
  }),
);

const tokenizer = WordTokenizer.fromTexts(['you:first you:second say heads tails']);

/** Plays heads with the given probability in each role, and spends a fifth on words that are no action. */
function learnerOf(
  heads: Readonly<Record<string, number>>,
  { words = tokenizer, choices = false } = {},
): Learner {
  const engine = fakeEngine({
    score: async ({ rows }) => ({
      logprobs: rows.map(({ ids_T }) => {
        const [role, , say, coin] = words.decode([...ids_T]).split(' ');
        expect(say).toBe('say');
        const share = heads[role!.slice(4)]!;
        const logprobs_T = new Float32Array(ids_T.length);
        // you:role <act> say heads <end>
        logprobs_T[0] = -7;
        logprobs_T[2] = Math.log(0.8);
        logprobs_T[3] = Math.log(coin === 'heads' ? share : 1 - share);
        return logprobs_T;
      }),
    }),
  });
  const renderer = wordRenderer(words, 2);
  const config = { seed: 1, rollout: { turnTimeoutMs: 1000, choices } };
  return {
    config,
    engine,
    renderer,
    context: fullContext,
    world: pennies,
    watch: unwatched,
    others: [],
  } as unknown as Learner;
}

const tree = treeOf(pennies)!;
const measured = async (
  learner: Learner,
  before: AverageStrategy | null,
  weight: number,
): Promise<SelfPlay> => (await measureSelfPlay(learner, tree, before, weight))!;

test('a known policy gives its own table, value and exploitability', async () => {
  const { average, metrics } = await measured(learnerOf({ first: 0.7, second: 0.4 }), null, 1);
  const near = (value: number): unknown => expect.closeTo(value, 6);
  expect(average.strategy).toEqual({
    'first: first': { 'say heads': near(0.8 * 0.7), 'say tails': near(0.8 * 0.3) },
    'second: second': { 'say heads': near(0.8 * 0.4), 'say tails': near(0.8 * 0.6) },
  });
  // They differ with 0.7 · 0.6 + 0.3 · 0.4 = 0.54. The best answer to the first gains 0.4, to the second 0.2; the mean of both counts.
  expect(metrics['game/value']).toBeCloseTo(0.08, 6);
  expect(metrics['game/exploitability_last']).toBeCloseTo(0.3, 6);
});

test('the average weighs strategies as asked, and may be in balance where neither is', async () => {
  const before = (await measured(learnerOf({ first: 0.8, second: 0.8 }), null, 1)).average;
  const { average, metrics } = await measured(learnerOf({ first: 0.4, second: 0.4 }), before, 3);
  expect(average.weight).toBe(4);
  expect(metrics['game/exploitability_last']).toBeCloseTo(0.2, 6);
  expect(metrics['game/exploitability_average']).toBeCloseTo(0, 6);
});

test('among choices, an act in words that the model does not know is never chosen', async () => {
  const words = WordTokenizer.fromTexts(['you:first you:second say heads']);
  const learner = learnerOf({ first: 1, second: 1 }, { words, choices: true });
  const { average, metrics } = await measured(learner, null, 1);
  const always = { 'say heads': expect.closeTo(0.8, 6), 'say tails': 0 };
  expect(average.strategy).toEqual({ 'first: first': always, 'second: second': always });
  // Both always match, so the second wins; whoever sits first could win by the other word.
  expect(metrics['game/value']).toBe(-1);
  expect(metrics['game/exploitability_last']).toBe(1);
});
