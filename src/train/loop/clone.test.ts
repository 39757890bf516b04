/** Imitation ends with weights, and nothing else of it goes on. */

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Call } from '../../core/episode.ts';
import { user } from '../../core/messages.ts';
import { defineEnvironment } from '../../env/environment.ts';
import { train } from '../../exports/train.ts';
import { readSafetensors } from '../../model/checkpoint/safetensors.ts';
import { readEvents } from '../../store/log-lines.ts';
import type { TrainSettings } from '../config/config.ts';
import { isImitated } from './clone.ts';

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

/** The events of imitation. */
async function imitated(name: string, clone: NonNullable<TrainSettings['clone']>) {
  await train({
    world: echo,
    recipe: 'rloo',
    settings: { ...settings, clone: { ...settings.clone, learningRate: 1e-2, warmupSteps: 1, ...clone } },
    name,
    runs: folder,
  });
  return readEvents(join(folder, name, 'events.jsonl')).flatMap((event) =>
    event.type === 'clone' ? [event] : [],
  );
}

test('imitation ends when turns are valid, and tells how they were before it', async () => {
  const events = await imitated('until-valid', { steps: 200, untilValid: 0.95 });
  expect(events[0]).toMatchObject({ step: 0, metrics: { 'clone/checked_episodes': 2 } });
  expect(events[0]!.metrics).not.toHaveProperty('clone/loss');
  const checked = events.slice(1).filter(({ metrics }) => 'clone/valid_share' in metrics);
  expect(checked.map(({ step }) => step)).toEqual(checked.map((_, index) => 12 + 4 * index));
  const last = events.at(-1)!;
  expect(last.step).toBeLessThan(200);
  expect(last.metrics['clone/valid_share']).toBeGreaterThanOrEqual(0.95);
  for (const { metrics } of checked.slice(0, -1)) expect(metrics['clone/valid_share']).toBeLessThan(0.95);
});

test('without a share to reach, all steps are taken and nothing is checked', async () => {
  const events = await imitated('all-steps', { steps: 6 });
  expect(events.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6]);
  for (const { metrics } of events) expect(metrics).not.toHaveProperty('clone/valid_share');
});

test('random moves are played, and imitated only where that is asked for', () => {
  const call = (name: string) => ({ by: { kind: 'script', name, version: 0 } }) as Call;
  const which = (imitateRandom: boolean) =>
    ['expert', 'beginner', 'random'].filter((name) => isImitated(call(name), { imitateRandom }));
  expect(which(true)).toEqual(['expert', 'beginner', 'random']);
  expect(which(false)).toEqual(['expert', 'beginner']);
});
