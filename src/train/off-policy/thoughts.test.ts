import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Trajectory, Turn } from '../../core/trajectory.ts';
import { tagProtocol } from '../../env/tag-protocol.ts';
import { wordRenderer } from '../../model/renderer.ts';
import { WordTokenizer } from '../../model/word-tokenizer.ts';
import type { CreditedSample } from '../batch.ts';
import type { Learner } from '../learner.ts';
import { correctionRows, thoughtLength, weighThoughts } from './thoughts.ts';

const tokenizer = WordTokenizer.fromTexts(['see near far <action>go</action> <action>stay</action>']);
const renderer = wordRenderer(tokenizer, 3);
const learner = {
  renderer,
  world: { protocol: tagProtocol },
  engine: { capabilities: { contextLength: 12 } },
} as unknown as Learner;
const words = (ids: Iterable<number>): string => tokenizer.decode([...ids]);

const turn = (text: string, correctedThought?: string): Turn => {
  const ids = renderer.completionIds(text);
  return {
    kind: 'act',
    anchor: '',
    messages: [],
    contextIds: tokenizer.encode('see'),
    extendsPrevious: false,
    ids,
    logprobs: ids.map(() => -1),
    sampled: true,
    text,
    ...(correctedThought !== undefined && { correctedThought }),
    finish: 'stop',
    reward: 0,
    valid: true,
    policyMs: 0,
    environmentMs: 0,
  };
};
const episode = (...turns: readonly Turn[]): Trajectory => ({
  id: '0/0/0',
  groupId: '0/0',
  role: 'agent',
  policyVersion: 0,
  turns,
  stop: 'done',
  outcome: 0,
  success: false,
});

test('a thought ends where the action begins, and is all there is where no action does', () => {
  const length = (text: string): number => thoughtLength(renderer.completionIds(text), renderer, tagProtocol);
  expect(length('see near <action>go</action>')).toBe(2);
  expect(length('<action>go</action>')).toBe(0);
  // The end of the turn is with it: nothing else was said.
  expect(length('see near')).toBe(3);
});

test('a token that reaches into the action belongs to the action, whatever the tokens', () => {
  const cut = fc.array(fc.constantFrom('a', 'b ', ' ', '<action>', 'go', '</action>', ' <act', 'ion>'));
  fc.assert(
    fc.property(cut, (pieces) => {
      const text = (ids: readonly number[]): string => ids.map((id) => pieces[id]).join('');
      const ids = [...pieces.keys()];
      const thought = tagProtocol.thought!(text(ids));
      const length = thoughtLength(ids, { text }, tagProtocol);
      expect(thought.startsWith(text(ids.slice(0, length)))).toBe(true);
      if (length < ids.length) expect(text(ids.slice(0, length + 1)).length).toBeGreaterThan(thought.length);
    }),
  );
});

test('a corrected thought is imitated after what the policy had seen and done; other turns are not', () => {
  const extended = { ...turn('far <action>stay</action>', 'see near'), extendsPrevious: true };
  const rows = correctionRows([episode(turn('near <action>go</action>'), extended)], learner);
  expect(rows.map(({ ids_T }) => words(ids_T))).toEqual(['see near <action>go</action> <end> see see near']);
  expect([...rows[0]!.channels.imitation!]).toEqual([0, 0, 0, 0, 0, 0.5, 0.5]);
  expect(rows[0]!.channels.weight!.every((weight) => weight === 0)).toBe(true);
});

test('shares of imitation are over all rows; what does not fit the context is left out, and so is an end', () => {
  const rows = correctionRows(
    [episode(turn('far', 'near')), episode(turn('far <action>go</action>', 'see near see'))],
    learner,
  );
  expect(rows.map(({ ids_T }) => words(ids_T))).toEqual(['see near', 'see see near see']);
  expect(rows.map(({ channels }) => [...channels.imitation!])).toEqual([
    [0, 0.25],
    [0, 0.25, 0.25, 0.25],
  ]);
  const long = { ...turn('far <action>go</action>', 'near'), contextIds: new Array<number>(12).fill(5) };
  expect(correctionRows([episode(long)], learner)).toEqual([]);
});

test('thoughts have a share of the advantage, actions all of it; so has everything where no action was found', () => {
  const turns = [turn('see near <action>go</action>'), turn('see near')];
  const turn_T = Int32Array.of(-1, 0, 0, 0, 0, -1, 1, 1, 1);
  const item = {
    sample: { turn_T },
    advantages_T: Float32Array.from(turn_T, (index) => (index < 0 ? 0 : 2)),
  } as unknown as CreditedSample;
  const weighed = weighThoughts(item, episode(...turns), learner, 0.25);
  expect([...weighed.advantages_T]).toEqual([0, 0.5, 0.5, 2, 2, 0, 2, 2, 2]);
  expect(weighThoughts(item, episode(...turns), learner, 1)).toBe(item);
});
