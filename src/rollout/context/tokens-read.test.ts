/** Windows give way in blocks: a token is read at most three times, however long an episode is and whatever its messages weigh. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Call } from '../../core/episode.ts';
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
import { state } from './state.ts';
import type { ContextStrategy } from './strategy.ts';
import { summary } from './summary.ts';
import { toolRetention } from './tool-retention.ts';
import { toolWindow } from './tool-window.ts';
import { variables } from './variables.ts';

const TURNS = 32;
// All of one length: a description cuts words, and none of them begins with another.
const words = Array.from({ length: 900 }, (_, index) => `w${index + 100}`);
const tokenizer = WordTokenizer.fromTexts([...words, 'omitted write now']);
const renderer = wordRenderer(tokenizer, 9);

/** Every word of an episode is another one: `lengths` says how many each observation and each act has. */
async function play(
  strategy: ContextStrategy,
  options: object,
  lengths: readonly number[],
): Promise<readonly Call[]> {
  let next = 0;
  const some = (count: number): string => {
    next += count;
    return words.slice(next - count, next).join(' ');
  };
  const lengthAt = (turn: number): number => lengths[turn % lengths.length]!;
  const world = fromEnvironment(
    defineEnvironment<null, { turn: number }>({
      name: 'talking',
      description: '',
      maxTurns: TURNS,
      tasks: () => ({ size: 1, at: () => null }),
      start: () => ({ state: { turn: 0 }, messages: [user(some(3))] }),
      step: ({ turn }) => ({
        state: { turn: turn + 1 },
        observation: some(lengthAt(turn)),
        ...{ reward: 0, valid: true, done: turn + 1 === TURNS },
      }),
    }),
  );
  const policy: Policy = {
    author: byPolicy('learner', 1),
    complete: async ({ sampling }) => {
      const text = some(1 + (next % 4));
      const ids = Int32Array.from(renderer.completionIds(text)).slice(0, sampling.maxTokens);
      const by = byPolicy('learner', 1);
      return { ids, logprobs: new Float32Array(ids.length), text, finish: 'stop', by, trainable: true };
    },
  };
  const { calls, stop, failure } = await runEpisode(
    { key: madeKey(), task: null },
    {
      ...{ world, policy, renderer, context: strategy.create(options), seed: 1, turnTimeoutMs: 5000 },
      sampling: { temperature: 1, topP: 1, topK: 0 },
      ...{ maxTurns: TURNS, contextLength: 1500, signal: new AbortController().signal, watch: unwatched },
    },
  );
  expect([stop, failure]).toEqual(['done', undefined]);
  return calls;
}

/** How often each word was read: in how many calls it was new to the path. */
const own = new Set(tokenizer.encode(words.join(' ')));

function timesRead(calls: readonly Call[]): number[] {
  const times = new Map<number, number>();
  for (const { context } of calls)
    for (const id of context) if (own.has(id)) times.set(id, (times.get(id) ?? 0) + 1);
  return [...times.values()];
}

const placeholder = 'omitted';
const count = fc.integer({ min: 1, max: 12 });

const windows: readonly (readonly [string, ContextStrategy, fc.Arbitrary<object>])[] = [
  ['last-turns', lastTurns, fc.record({ turns: count, tokens: fc.constantFrom(0, 60, 150) })],
  ['tool-window', toolWindow, fc.record({ results: count, placeholder: fc.constant(placeholder) })],
  ['tool-retention', toolRetention, fc.record({ keep: count, placeholder: fc.constant(placeholder) })],
  [
    'variables',
    variables,
    fc.record({ keep: count, limit: fc.constantFrom(32, 400), placeholder: fc.constant(placeholder) }),
  ],
  ['summary', summary, fc.record({ threshold: fc.constantFrom(40, 90, 200), summaries: fc.constant(99) })],
  ['state', state, fc.constant({ instruction: 'write', act: 'now', note: false })],
];

test.each(windows)('%s: at most three times', { timeout: 120_000 }, async (_, strategy, options) => {
  await fc.assert(
    fc.asyncProperty(options, fc.array(count, { minLength: 1, maxLength: 6 }), async (chosen, lengths) => {
      expect(Math.max(...timesRead(await play(strategy, chosen, lengths)))).toBeLessThanOrEqual(3);
    }),
    { numRuns: 12, endOnFailure: true },
  );
});

test('cut every turn instead, a token is read as often as it stands in a prompt', async () => {
  const often = async (strategy: ContextStrategy, options: object): Promise<number> =>
    Math.max(...timesRead(await play(strategy, options, [2])));
  expect(await often(lastTurns, { turns: 6, every: 1 })).toBe(7);
  expect(await often(toolWindow, { results: 6, every: 1, placeholder })).toBe(6);
  expect(await often(toolRetention, { keep: 6, every: 1, placeholder })).toBe(6);
  expect(await often(variables, { keep: 6, every: 1, placeholder })).toBe(6);
});
