/** Imitation ends with weights, and nothing else of it goes on. */

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { user } from '../../core/messages.ts';
import { defineEnvironment } from '../../env/environment.ts';
import { train } from '../../exports/train.ts';
import { readSafetensors } from '../../model/checkpoint/safetensors.ts';
import type { TrainSettings } from '../config/config.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-clone-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const WORDS = ['red', 'green'] as const;

const echo = defineEnvironment<number, number>({
  name: 'echo',
  description: 'say the word that was said',
  maxTurns: 1,
  tasks: () => ({ size: WORDS.length, at: (index) => index }),
  start: (said) => ({ state: said, messages: [user(`say:${WORDS[said]!}`)] }),
  step: (said, action) => ({
    state: said,
    observation: '',
    reward: action === WORDS[said] ? 1 : 0,
    done: true,
    success: action === WORDS[said],
    valid: WORDS.some((word) => word === action),
  }),
  actions: () => WORDS,
  solve: (said) => WORDS[said]!,
});

const settings: TrainSettings = {
  seed: 3,
  steps: 0,
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 32 },
  clone: { demonstrations: 16, steps: 4, batch: 8 },
  evaluation: { every: 0, tasks: 2, finalTasks: 2 },
};

/** What the first checkpoint of a run, from which reinforcement learning begins, has of the optimizer. */
async function optimizerOf(name: string, more: TrainSettings = {}) {
  await train({ world: echo, recipe: 'rloo', settings: { ...settings, ...more }, name, runs: folder });
  const checkpoints = join(folder, name, 'checkpoints');
  const [first] = readdirSync(checkpoints);
  return readSafetensors(join(checkpoints, first!, 'optimizer.safetensors'));
}

test.each([
  ['after imitation', {}],
  ['from the warm start of another run', { start: 'source' }],
])('reinforcement learning begins without moments, %s', async (how, more) => {
  await train({ world: echo, recipe: 'rloo', settings, name: 'source', runs: folder }).catch(() => {});
  const { tensors, metadata } = await optimizerOf(how.replaceAll(' ', '-'), more);
  expect(metadata).toEqual({ step: '0' });
  expect(tensors.size).toBeGreaterThan(10);
  for (const [name, { data }] of tensors)
    expect([name, data.every((moment) => moment === 0)]).toEqual([name, true]);
});
