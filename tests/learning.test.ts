/** Does it learn at all? Two games that take seconds: one turn, and two turns of which only the first is paid for. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { user } from '../src/core/messages.ts';
import { defineEnvironment, type Environment } from '../src/env/environment.ts';
import { train } from '../src/exports/train.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-learning-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const WORDS = ['red', 'green', 'blue', 'black'] as const;

/** Say the word that was said. */
const identity = defineEnvironment<{ word: string }, { word: string }>({
  name: 'identity',
  description: 'say the word that was said',
  maxTurns: 1,
  tasks: () => ({ size: WORDS.length, at: (index) => ({ word: WORDS[index]! }) }),
  start: ({ word }) => ({ state: { word }, messages: [user(`say:${word}`)] }),
  step: (state, action) => {
    const success = action === state.word;
    return { state, observation: '', reward: success ? 1 : 0, done: true, success, valid: true };
  },
  actions: () => WORDS,
  solve: ({ word }) => word,
});

type Memory = { readonly word: string; readonly first: string | null };

/** Only the first answer counts, and it is paid for after the second, whose observation says nothing. */
const firstTurnCounts = defineEnvironment<{ word: string }, Memory>({
  name: 'first-turn-counts',
  description: 'the reward of the first turn comes after the second',
  maxTurns: 2,
  tasks: () => ({ size: WORDS.length, at: (index) => ({ word: WORDS[index]! }) }),
  start: ({ word }) => ({ state: { word, first: null }, messages: [user(`say:${word}`)] }),
  step: ({ word, first }, action) => {
    if (first === null)
      return { state: { word, first: action }, observation: 'anything', reward: 0, done: false, valid: true };
    const success = first === word;
    return {
      state: { word, first },
      observation: '',
      reward: success ? 1 : 0,
      done: true,
      success,
      valid: true,
    };
  },
  actions: () => WORDS,
  solve: ({ word }) => word,
});

const settings = {
  seed: 3,
  threads: 1,
  model: { width: 32, layers: 1, heads: 2, hidden: 64 },
  clone: { demonstrations: 200, beginnerShare: 0, randomRate: 1, steps: 12, batch: 32, learningRate: 3e-3 },
  rollout: { tasks: 8, group: 8 },
  // At twice this rate one seed in eight settles on three of the four words.
  optimizer: { learningRate: 5e-3, warmupSteps: 2 },
  evaluation: { every: 0, finalTasks: 200 },
  checkpoint: { every: 100 },
} as const;

describe.each([
  ['one turn', identity as Environment],
  ['two turns, the first of which counts', firstTurnCounts as unknown as Environment],
])('%s', (_name, environment) => {
  test.each(['rloo', 'grpo', 'reinforce++', 'ppo'])('%s learns it', async (recipe) => {
    // The critic has to learn first.
    const steps = recipe === 'ppo' ? 80 : 50;
    const { before, after } = await train({
      world: environment,
      recipe,
      settings: { ...settings, steps },
      runs: folder,
    });
    expect(before.sampled.success).toBeLessThan(0.45);
    expect(after.sampled.success).toBeGreaterThan(0.9);
  });
});
