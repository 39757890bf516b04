import fc from 'fast-check';
import { expect, test } from 'vitest';
import { samplesOfTrajectory } from '../../core/sample.ts';
import {
  type MadeTurn,
  madeCall,
  madeEpisode,
  madeTransition,
  playedEpisode,
  trajectoryOf,
} from '../../core/testing/made-episodes.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import { spacedTagProtocol, tagProtocol } from '../../env/tag-protocol.ts';
import { wordRenderer } from '../../model/chat/renderer.ts';
import { WordTokenizer } from '../../model/tokenizer/word-tokenizer.ts';
import type { CreditedSample } from '../kit/batch.ts';
import { CORRECTION, correctionRows, thoughtLength, weighThoughts } from './thoughts.ts';

const tokenizer = WordTokenizer.fromTexts(['see near far <action>go</action> <action>stay</action>']);
const renderer = wordRenderer(tokenizer, 3);
const reading = { renderer, protocol: tagProtocol, contextLength: 12 };
const words = (ids: Iterable<number>): string => tokenizer.decode([...ids]);

const turn = (text: string, correctedThought?: string, more: Partial<MadeTurn> = {}): MadeTurn => ({
  written: renderer.completionIds(text),
  anew: true,
  ...more,
  call: { context: tokenizer.encode('see'), text, ...more.call },
  transition: { ...(correctedThought !== undefined && { notes: { [CORRECTION]: correctedThought } }) },
});
const episode = (...turns: readonly MadeTurn[]): Trajectory => trajectoryOf(playedEpisode(0, turns));

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
      const before = thought.length < text(ids).length ? `${thought}<action>` : thought;
      const length = thoughtLength(ids, { text }, tagProtocol);
      expect(before.startsWith(text(ids.slice(0, length)))).toBe(true);
      if (length < ids.length) expect(text(ids.slice(0, length + 1)).length).toBeGreaterThan(before.length);
    }),
  );
});

test('a corrected thought is imitated after what the policy had seen and done; other turns are not', () => {
  const extended = turn('far <action>stay</action>', 'see near', { anew: false });
  const rows = correctionRows([episode(turn('near <action>go</action>'), extended)], reading);
  expect(rows.map(({ ids_T }) => words(ids_T))).toEqual([
    'see near <action>go</action> <end> see see near <action>stay</action> <end>',
  ]);
  expect([...rows[0]!.channels.imitation!].map((share) => Math.round(3 * share))).toEqual([
    ...[0, 0, 0, 0, 0],
    ...[1, 1, 0, 1],
  ]);
  expect(rows[0]!.channels.weight!.every((weight) => weight === 0)).toBe(true);
});

test('all but the action is imitated: what opens and closes it too, where these are tokens of their own', () => {
  const spaced = wordRenderer(WordTokenizer.fromTexts(['see near far <action> go </action>']), 3);
  const rowOf = (text: string) => {
    const [context] = spaced.completionIds('see');
    const wrong = {
      ...turn(text, 'see near', { call: { context: [context!] } }),
      written: spaced.completionIds(text),
    };
    const [row] = correctionRows([episode(wrong)], {
      ...reading,
      renderer: spaced,
      protocol: spacedTagProtocol,
    });
    const imitation = [...row!.channels.imitation!].map((share) =>
      Math.round(share / Math.max(...row!.channels.imitation!)),
    );
    return [spaced.text(row!.ids_T), imitation.join('')];
  };
  const [context, thought, opening, action, closing, end] = ['0', '11', '1', '0', '1', '1'];
  expect(rowOf('far <action> go </action>')).toEqual([
    'see see near <action> go </action>',
    context + thought + opening + action + closing + end,
  ]);
  // Where no action was found, the thought is where it should have begun.
  for (const text of ['far far', 'far </action>', '<action> go <action> go </action>'])
    expect(rowOf(text)).toEqual(['see see near <action>', context + thought + opening]);
});

test('shares of imitation are over all rows; what does not fit the context is left out', () => {
  const rows = correctionRows(
    [episode(turn('far', 'near')), episode(turn('far <action>go</action>', 'see near'))],
    reading,
  );
  expect(rows.map(({ ids_T }) => words(ids_T))).toEqual([
    'see near',
    'see see near <action>go</action> <end>',
  ]);
  expect(rows.map(({ channels }) => [...channels.imitation!])).toEqual([
    [0, 0.25],
    [0, 0.25, 0.25, 0, 0.25],
  ]);
  const long = turn('far <action>go</action>', 'near', { call: { context: new Array<number>(12).fill(5) } });
  expect(correctionRows([episode(long)], reading)).toEqual([]);
});

test('thoughts have a share of the advantage, actions all of it; so has everything where no action was found', () => {
  const turns = [turn('see near <action>go</action>'), turn('see near')];
  const call_T = Int32Array.of(-1, 0, 0, 0, 0, -1, 1, 1, 1);
  const item = {
    sample: { call_T },
    advantages_T: Float32Array.from(call_T, (index) => (index < 0 ? 0 : 2)),
  } as unknown as CreditedSample;
  const weighed = weighThoughts(item, episode(...turns), reading, 0.25);
  expect([...weighed.advantages_T]).toEqual([0, 0.5, 0.5, 2, 2, 0, 2, 2, 2]);
  expect(weighThoughts(item, episode(...turns), reading, 1)).toBe(item);
});

test('a plan before the act is no thought of it: it has all of its advantage', () => {
  const ids = (text: string): number[] => renderer.completionIds(text);
  const acted = 'near <action>go</action>';
  const planned = trajectoryOf(
    madeEpisode(
      0,
      [
        madeCall(0, ids('far'), { purpose: 'plan', text: 'far' }),
        madeCall(1, ids(acted), { parent: 0, text: acted }),
      ],
      [madeTransition(1)],
    ),
  );
  const [sample] = samplesOfTrajectory(planned);
  const advantages_T = Float32Array.from(sample!.mask_T);
  const item: CreditedSample = { sample: sample!, advantages_T, live: true };
  expect(words(sample!.ids_T.filter((_, token) => sample!.call_T[token] === 1))).toBe(`${acted} <end>`);
  expect([...weighThoughts(item, planned, reading, 0.25).advantages_T]).toEqual([0, 1, 1, 0, 0.25, 1, 1]);
});
