/** A model that is made for a run has room for its longest stage, and the words of all stages. */

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fromEnvironment } from '../../env/from-environment.ts';
import { tagProtocol } from '../../env/tag-protocol.ts';
import { defineEnvironment, user } from '../../exports/index.ts';
import { turnsRegistry } from '../../rollout/turns/turn-controls.ts';
import { unwatched } from '../../rollout/watch.ts';
import { demonstrate } from '../../synth/demonstrations.ts';
import type { TrainSettings } from '../config/config.ts';
import { resolveConfig } from '../config/resolve.ts';
import { findRecipe } from '../recipes/recipes.ts';
import { demonstratedWays } from './demonstrated-ways.ts';
import { designModel } from './design-model.ts';

/** A walk of twelve steps, of which each says which it is. */
const walk = (steps = 12) =>
  fromEnvironment(
    defineEnvironment({
      name: 'walk',
      description: '',
      maxTurns: 4,
      tasks: (): { size: number; at: (index: number) => number } => ({ size: 4, at: (index) => index }),
      start: () => ({ state: { turn: 0 }, messages: [user('go')] }),
      step: ({ turn }) => ({
        state: { turn: turn + 1 },
        observation: `mile ${turn + 1} of a long road`,
        reward: 1,
        done: turn + 1 >= steps,
        valid: true,
      }),
      solve: () => 'on',
      actions: () => ['on'],
    }),
    { protocol: tagProtocol },
  );

async function modelOf(settings: TrainSettings, world = walk()) {
  const recipe = findRecipe('rloo');
  const config = resolveConfig({ recipe, environmentOptions: z.strictObject({}), settings });
  const groups = [];
  for (const way of demonstratedWays(config, world)) {
    const played = await demonstrate(world, {
      ...{ demonstrations: 4, beginnerShare: 0, randomRate: 0, seed: 1, ...way },
      ...{ signal: new AbortController().signal, watch: unwatched },
    });
    groups.push(...played);
  }
  const { words, shape } = designModel(groups, config, recipe, world);
  return { words, room: shape.contextLength };
}

describe('stages', () => {
  test('a run that ends with longer episodes has the room of one that has them throughout', async () => {
    const [short, long, staged] = await Promise.all([
      modelOf({}),
      modelOf({ rollout: { maxTurns: 12 } }),
      modelOf({ stages: [{ until: 2, set: {} }, { set: { 'rollout.maxTurns': 12 } }] }),
    ]);
    expect(staged.room).toBe(long.room);
    expect(short.room).toBeLessThan(long.room);
    expect(staged.words).toEqual(expect.arrayContaining(['11']));
    expect(short.words).not.toContain('11');
  });

  test('the words of a context and of a turn control in a stage are known', async () => {
    const placed = await modelOf({
      context: { name: 'tool-window' },
      stages: [{ until: 2, set: { 'context.placeholder': 'nothing remains' } }],
    });
    expect(placed.words).toEqual(expect.arrayContaining(['nothing', 'remains', 'Earlier']));
    const warned = await modelOf({
      turns: { name: 'retry' },
      stages: [{ until: 2, set: { 'turns.message': 'once more' } }],
    });
    expect(warned.words).toEqual(expect.arrayContaining(['once', 'more', 'wrong.']));
  });

  test('a stage that is played as the run is asks for no demonstrations of its own', () => {
    const waysOf = (set: object) =>
      demonstratedWays(
        resolveConfig({
          recipe: findRecipe('rloo'),
          environmentOptions: z.strictObject({}),
          settings: { stages: [{ until: 2, set }] } as TrainSettings,
        }),
        walk(),
      );
    expect(waysOf({ 'rollout.group': 4 })).toHaveLength(1);
    expect(waysOf({ 'rollout.maxTurns': 9 }).map(({ maxTurns }) => maxTurns)).toEqual([4, 9]);
  });
});

describe('limits that grow', () => {
  test.each([
    [{ name: 'scaling-inter', limits: [2, 4, 40] }],
    [{ name: 'extended', limits: [4, 40] }],
    [{ name: 'annealed', initial: 40 }],
    [{ name: 'retry', attempts: 10 }],
  ])('%o: there is room for its 40 turns', async (turns) => {
    // All demonstrations end after two turns, so that none of them shows how long an episode may be.
    const world = walk(2);
    const usual = await modelOf({}, world);
    const { room } = await modelOf({ turns } as TrainSettings, world);
    // Of those who take 40 turns the longest sequence, and half as much again.
    const long = await modelOf({ rollout: { maxTurns: 40 } }, walk(40));
    const needed = (long.room - 32) / 1.5;
    expect(usual.room).toBeLessThan(needed);
    expect(room).toBeGreaterThanOrEqual(needed);
  });

  test('a context that counts turns knows the numbers of the longest limit', async () => {
    const { words } = await modelOf({
      context: { name: 'state' },
      turns: { name: 'scaling-inter', limits: [2, 31] },
    });
    expect(words).toEqual(expect.arrayContaining(['30', '17', 'last']));
  });

  test('what each control may give at most', () => {
    const longest = (name: string, options: object = {}) =>
      turnsRegistry.find(name).create(options).longest(7);
    expect(
      ['usual', 'scaling-inter', 'annealed', 'percentile', 'extended', 'retry', 'two-attempts'].map((name) =>
        longest(name),
      ),
    ).toEqual([7, 20, 30, 7, 20, 35, 14]);
    expect(longest('thinking-units', { units: 3 })).toBe(21);
  });
});
