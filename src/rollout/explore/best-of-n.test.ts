import { describe, expect, test } from 'vitest';
import { user } from '../../core/messages.ts';
import { Rng } from '../../core/rng.ts';
import { byPolicy } from '../../core/testing/made-episodes.ts';
import { defineEnvironment } from '../../env/environment.ts';
import { fromEnvironment } from '../../env/from-environment.ts';
import { evaluate } from '../../eval/evaluate.ts';
import { wordRenderer } from '../../model/chat/renderer.ts';
import { SPECIAL_TOKENS, WordTokenizer } from '../../model/tokenizer/word-tokenizer.ts';
import { Lockstep } from '../../policy/lockstep.ts';
import type { Policy } from '../../policy/policy.ts';
import { fullContext } from '../context/contexts.ts';
import { faultyWorld } from '../testing/faulty-world.ts';
import { unwatched } from '../watch.ts';
import { bestOfNExplorer, bestOfTurns, expectedBestOf } from './best-of-n.ts';
import type { Search } from './searched.ts';

/** Three words; only b b b is worth something, and it is paid for at the end. */
const words = defineEnvironment<number, { said: string }>({
  name: 'words',
  description: 'three words',
  maxTurns: 3,
  tasks: () => ({ size: 40, at: (index) => index }),
  start: () => ({ state: { said: '' }, messages: [user('go')] }),
  step: ({ said }, action) => {
    const state = { said: said + action };
    const done = state.said.length === 3;
    const success = state.said === 'bbb';
    return { state, observation: 'go', reward: success ? 1 : 0, done, success, valid: true };
  },
});

const tokenizer = new WordTokenizer([...SPECIAL_TOKENS, 'go', 'a', 'b']);

const policy: Policy = {
  author: byPolicy(),
  complete: async ({ seedKey }) => {
    const text = Rng.of(seedKey).chance(0.5) ? 'a' : 'b';
    const ids = Int32Array.from(tokenizer.encode(text));
    const logprobs = new Float32Array(ids.length).fill(Math.log(0.5));
    return { ids, logprobs, text, finish: 'stop', by: byPolicy(), trainable: true };
  },
};

const [a] = tokenizer.encode('a');
/** A critic that knows that a spoils everything. */
const valuesOf: NonNullable<Search['valuesOf']> = async (prompts) =>
  prompts.map((ids) => (ids.includes(a!) ? 0 : 1));

async function measured(search?: Search) {
  const watched = faultyWorld(fromEnvironment(words), { rate: 0, rng: Rng.of(0), lateMs: 0 });
  const { result, groups } = await evaluate({
    ...{ world: watched.world, policy, context: fullContext, renderer: wordRenderer(tokenizer, 1) },
    ...{ tasks: 40, step: 0, maxTurns: 3, contextLength: 100, turnTimeoutMs: 1000, seed: 1 },
    ...{ concurrency: 8, batching: new Lockstep(), watch: unwatched, signal: new AbortController().signal },
    split: 'test',
    sampling: { temperature: 1, topP: 1, topK: 0 },
    ...(search && { search }),
  });
  expect([watched.openSessions(), watched.openSnapshots()]).toEqual([0, 0]);
  return { result, groups };
}

describe('best of n in an evaluation', () => {
  test('a verifier that is right finds what sampling alone seldom does', async () => {
    const plain = await measured();
    const { result, groups } = await measured({
      explorer: bestOfNExplorer({ width: 4 }),
      choose: bestOfTurns,
      valuesOf,
    });
    // Of 40 tasks 1/8 succeed by chance. The last action is an end, which the critic need not judge.
    expect(plain.result.success).toBeLessThan(0.3);
    expect(plain.result.searched).toBeUndefined();
    expect(result.success).toBeGreaterThan(0.7);
    expect(result).toMatchObject({ episodes: 40, turns: 3, searched: 12 });
    // What counts is one whole episode of each task.
    for (const { members } of groups) {
      expect(members).toHaveLength(1);
      expect(members[0]!.transitions).toHaveLength(3);
      expect(members[0]!.calls).toHaveLength(3);
      expect(members[0]!.branchedFrom).toBeUndefined();
    }
  });

  test('without a critic it is the first of equal ones, so a plain episode', async () => {
    const { result } = await measured({ explorer: bestOfNExplorer({ width: 1 }), choose: bestOfTurns });
    expect(result).toMatchObject({ turns: 3, searched: 3 });
    expect(result.success).toBeLessThan(0.4);
  });
});

describe('the expected best of k', () => {
  const scored = [
    { score: 0.1, outcome: 0 },
    { score: 0.9, outcome: 1 },
    { score: 0.5, outcome: 0.5 },
  ];

  test('of one is the mean, of all is the top, and of two the average over pairs', () => {
    expect(expectedBestOf(scored, 1)).toBeCloseTo(0.5, 12);
    expect(expectedBestOf(scored, 3)).toBeCloseTo(1, 12);
    // Pairs: (0, 1) → 1, (0, .5) → .5, (1, .5) → 1.
    expect(expectedBestOf(scored, 2)).toBeCloseTo(2.5 / 3, 12);
  });

  test('a tie goes to the earlier', () => {
    const tied = [1, 0].map((outcome) => ({ score: 1, outcome }));
    expect(expectedBestOf(tied, 2)).toBe(1);
    expect(expectedBestOf([...tied].reverse(), 2)).toBe(0);
  });
});
