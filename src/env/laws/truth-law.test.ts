import { expect, test } from 'vitest';
import { user } from '../../core/messages.ts';
import { defineEnvironment } from '../environment.ts';
import { fromEnvironment } from '../from-environment.ts';
import { tagProtocol } from '../tag-protocol.ts';
import type { World } from '../world.ts';
import { brokenTruth } from './truth-law.ts';

const echo = defineEnvironment({
  name: 'echo',
  description: '',
  maxTurns: 2,
  tasks: ['red', 'green', 'blue'],
  start: (word: string) => ({ state: word, messages: [user(word)] }),
  step: (word, action) => {
    const valid = ['red', 'green', 'blue'].includes(action);
    const success = action === word;
    return { state: word, observation: '', reward: 0, done: valid, success, valid };
  },
  truth: (word) => [word, word],
});

const broken = (world: World, truth?: World['truth']) =>
  brokenTruth(truth ? { ...world, truth } : world, 'red', 1);

test('a truth is written in the action format, and solves its task', async () => {
  const tagged = fromEnvironment(echo, { protocol: tagProtocol });
  expect(tagged.truth!('red')).toEqual(['<action>red</action>', '<action>red</action>']);
  expect([await broken(fromEnvironment(echo)), await broken(tagged)]).toEqual([undefined, undefined]);
  expect(await broken(fromEnvironment({ ...echo, truth: () => [] }))).toBeUndefined();
});

test('each broken promise is named', async () => {
  const world = fromEnvironment(echo, { protocol: tagProtocol });
  expect([
    await broken(world, () => '<action>blue</action>'),
    await broken(world, () => ['<action>red</action>', '<action>grey</action>']),
    await broken(world, () => 'red'),
    await broken(world, () => 7 as never),
  ]).toEqual([
    'the truth "<action>blue</action>" does not solve the task',
    'the truth "<action>grey</action>" is no valid action',
    'the truth "red" cannot be read: No action was found. Write exactly one <action>…</action>.',
    'truth() gave a number, not a string or strings',
  ]);
});
