/** Demonstrations under turn controls: what a small model will read and be asked for is what it imitates. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Episode } from '../src/core/episode.ts';
import { fromEnvironment } from '../src/env/from-environment.ts';
import { tagProtocol } from '../src/env/tag-protocol.ts';
import { defineEnvironment, start, train, user } from '../src/exports/index.ts';
import { type DefinedTurns, demonstratedRules } from '../src/rollout/turns/turn-control.ts';
import { turnsRegistry } from '../src/rollout/turns/turn-controls.ts';
import { unwatched } from '../src/rollout/watch.ts';
import { demonstrate } from '../src/synth/demonstrations.ts';
import { contextOf } from '../src/train/kit/learner.ts';

/** Says a number, wants it said back; beginners say another. With `steps` it takes so many turns. */
const echo = (steps = 1) => {
  const environment = defineEnvironment({
    name: 'echo',
    description: '',
    maxTurns: 6,
    tasks: (): { size: number; at: (index: number) => { word: string } } => ({
      size: 4,
      at: (index) => ({ word: `w${index}` }),
    }),
    start: (task) => ({ state: { ...task, turn: 0 }, messages: [user(`say ${task.word}`)] }),
    step: (state, action) => ({
      state: { ...state, turn: state.turn + 1 },
      observation: 'more',
      reward: state.turn + 1 >= steps && action === state.word ? 1 : 0,
      done: state.turn + 1 >= steps,
      valid: true,
    }),
    solve: ({ word }) => word,
    stumble: () => 'wrong',
    actions: ({ word }) => [word, 'wrong'],
  });
  return fromEnvironment(environment, { protocol: tagProtocol });
};

async function shown(name: string, options: object, { steps = 1, beginnerShare = 0, context = 'full' } = {}) {
  const world = echo(steps);
  const rules = demonstratedRules(turnsRegistry.find(name).create(options), {
    seed: 1,
    usual: world.maxTurns,
  });
  const groups = await demonstrate(world, {
    ...{
      demonstrations: 4,
      beginnerShare,
      randomRate: 0,
      seed: 1,
      maxTurns: world.maxTurns,
      turnTimeoutMs: 5000,
    },
    signal: new AbortController().signal,
    watch: unwatched,
    ...(rules && { turns: rules }),
    context: contextOf({ context: { name: context, trained: true } }),
  });
  return groups.flatMap(({ members }) => members);
}

const read = ({ calls }: Episode): string[] =>
  calls.flatMap(({ messages }) => messages.map(({ content }) => content));
const wrote = ({ calls }: Episode): string[] => calls.map(({ text }) => text);

describe('demonstrations are played under the control', () => {
  test('retry: a beginner reads that it failed, and attempts again', async () => {
    const episodes = await shown('retry', { attempts: 3 }, { beginnerShare: 1 });
    for (const episode of episodes) {
      expect(read(episode).filter((text) => text === 'That is wrong. Try again.')).toHaveLength(2);
      expect(episode.transitions.map(({ attempt = 0 }) => attempt)).toEqual([0, 1, 2]);
    }
  });

  test('two-attempts: everybody attempts twice', async () => {
    for (const episode of await shown('two-attempts', { message: 'again' })) {
      expect(read(episode).filter((text) => text === 'again')).toHaveLength(1);
      expect(episode.outcome.agent).toBe(2);
    }
  });

  test('thinking-units: the same answer ends it, or a word in the second one', async () => {
    for (const episode of await shown('thinking-units', {})) expect(episode.calls).toHaveLength(2);
    for (const episode of await shown('thinking-units', { end: 'enough' }))
      expect(wrote(episode)[1]).toMatch(/^enough .*<action>w\d<\/action>$/);
  });

  test('extended: who asks in time is given more turns, and reads that', async () => {
    const limits = { limits: [2, 4], reminders: 1, demand: 'longer' };
    for (const episode of await shown('extended', limits, { steps: 4 })) {
      expect(wrote(episode).map((text) => text.startsWith('longer '))).toEqual([false, true, false, false]);
      expect(read(episode)).toEqual(
        expect.arrayContaining(['Turns left: 1', 'Not finished: the limit is extended. Turns left: 2']),
      );
      expect(episode.outcome.agent).toBe(1);
    }
  });

  test('modes: each has the turns of its mode', async () => {
    const episodes = await shown(
      'modes',
      { turns: { instant: 1, reasoning: 2 } },
      { steps: 4, context: 'modes' },
    );
    for (const { transitions } of episodes) {
      const [{ facts } = {}] = transitions;
      expect(transitions).toHaveLength(facts?.mode === 'instant' ? 1 : facts?.mode === 'reasoning' ? 2 : 4);
    }
  });
});

test('a control that only limits shortens no demonstration', async () => {
  for (const name of ['usual', 'scaling-inter', 'annealed', 'early-stop', 'until-void', 'percentile']) {
    const opened = (turnsRegistry.find(name) as DefinedTurns).create({});
    expect(opened.demonstrated, name).toBe(false);
    expect(demonstratedRules(opened, { seed: 1, usual: 4 }), name).toBeUndefined();
  }
});

test('what a control may say is known, whether a demonstration came to it or not', () => {
  const says = (name: string, options = {}) => turnsRegistry.find(name).create(options).says(4);
  expect(says('usual')).toEqual([]);
  expect(says('retry', { message: 'no' })).toEqual(['no']);
  expect(says('extended', { limits: [2, 5], reminders: 2 })).toEqual([
    'Turns left: 1',
    'Turns left: 2',
    'Not finished: the limit is extended. Turns left: 3',
  ]);
  expect(says('percentile', { reminders: 2, reminder: '{left} left' })).toEqual(['1 left', '2 left']);
  const extended = { levels: [0.5, 1], reminders: 0, extension: '{left} more' };
  expect(says('percentile', extended)).toEqual(['1 more', '2 more', '3 more']);
});

test('evaluations are played under the control where the settings say so, of a stored run, too', async () => {
  const runs = mkdtempSync(join(tmpdir(), 'controlled-'));
  const settings = {
    ...{ steps: 0, threads: 1, model: { width: 16, layers: 1, heads: 1, hidden: 16 } },
    ...{ clone: { demonstrations: 20, steps: 2 }, turns: { name: 'two-attempts' } },
  };
  const measured = async (name: string, turnControl: boolean) => {
    const evaluation = { finalTasks: 20, turnControl };
    const run = await start({
      ...{ world: 'running-sums', recipe: 'grpo', name, runs },
      settings: { ...settings, evaluation },
    });
    const { before } = await run.finished;
    const again = await run.evaluate({ tasks: 20 });
    expect(again.sampled).toEqual(before.sampled);
    return again.sampled.turns;
  };
  expect((await measured('twice', true)) / (await measured('once', false))).toBeGreaterThan(1.5);
  const refused = train({
    ...{ world: 'running-sums', recipe: 'grpo', name: 'schedule', runs },
    settings: { ...settings, turns: { name: 'scaling-inter' }, evaluation: { turnControl: true } },
  });
  await expect(refused).rejects.toThrow(
    'it holds in training alone. Seen: evaluation.turnControl true, turns scaling-inter',
  );
  rmSync(runs, { recursive: true });
});
