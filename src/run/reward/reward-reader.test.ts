/** Where conversations are read: after each answer as it was written, also where a template drops its reasoning later. */

import { describe, expect, test } from 'vitest';
import { assistant, user } from '../../core/messages.ts';
import type { ConversationRow } from '../../data/row.ts';
import { pretrainedConversation } from '../../model/chat/pretrained-conversation.ts';
import { isCompletion, type Piece, type Renderer, wordRenderer } from '../../model/chat/renderer.ts';
import { parityLanguage } from '../../model/testing/parity-data.ts';
import { WordTokenizer } from '../../model/tokenizer/word-tokenizer.ts';
import { prefixRewards, rewardAfter } from './prefix-rewards.test-helper.ts';
import { type ReadSequence, rewardRow, rewardsAlong, rewardsOf, sequencesOf } from './reward-reader.ts';

const tokenizer = WordTokenizer.fromTexts(['where next think left right down', 'one two three']);
const keeping = wordRenderer(tokenizer, 3);
const { more: _, ...anew } = keeping;

/** Of an answer that was given before, the first word is left out: the reasoning. */
const withoutThought = (piece: Piece): Piece =>
  typeof piece !== 'string' && isCompletion(piece) ? { of: piece, from: 1, to: piece.ids.length } : piece;

/** Answers lose their thoughts as soon as the next one is asked for. */
const dropping: Renderer = {
  ...anew,
  pieces: (said, offered) => anew.pieces(said, offered).map(withoutThought),
};
/** They lose them only when the third is asked for, as where a template looks for the last question. */
const droppingLater: Renderer = {
  ...anew,
  pieces: (said, offered) =>
    anew.pieces(said, offered).map(said.filter(isCompletion).length < 2 ? (piece) => piece : withoutThought),
};

const row: ConversationRow = {
  v: 1,
  messages: [
    ...[user('where'), assistant('think left'), user('next one'), assistant('think right')],
    ...[user('next two three'), assistant('think down')],
  ],
  source: { kind: 'file' },
};
const beginning = (answers: number): ConversationRow => ({
  ...row,
  messages: row.messages.slice(0, 2 * answers),
});
const read = (one: ConversationRow, renderer: Renderer, contextLength = 100): ReadSequence =>
  sequencesOf(one, renderer, contextLength)[0]!;
const textOf = ({ ids_T, earlier }: ReadSequence): string[] =>
  [ids_T, ...earlier].map((ids) => tokenizer.decode([...ids].slice(0, -1)));

test('places are in the row that each answer was written in', () => {
  const kept = read(row, keeping);
  expect(kept.earlier).toEqual([]);
  expect(kept.places_K1).toEqual([2, 5, 11, 18].map((tokens) => ({ row: 0, tokens })));
  const dropped = read(row, dropping);
  expect(textOf(dropped)).toEqual([
    'where <act> left <end> next one <act> right <end> next two three <act> think down <end>',
    'where <act> left <end> next one <act> think right <end>',
    'where <act> think left <end>',
  ]);
  expect(dropped.places_K1).toEqual([
    { row: 2, tokens: 2 },
    { row: 2, tokens: 5 },
    { row: 1, tokens: 10 },
    { row: 0, tokens: 16 },
  ]);
  // The first two answers stand in one row.
  expect(read(row, droppingLater).places_K1.map((place) => place.row)).toEqual([1, 1, 1, 0]);
});

describe.each([
  ['a template that keeps reasoning', keeping],
  ['one that drops it', dropping],
  ['one that drops it later', droppingLater],
])('%s', (_name, renderer) => {
  test('what a conversation is worth after an answer does not depend on what comes later', async () => {
    const [along] = await rewardsAlong(prefixRewards, [read(row, renderer)]);
    const alone = await rewardsOf(
      prefixRewards,
      [1, 2, 3].map((answers) => read(beginning(answers), renderer)),
    );
    expect(along!.slice(1)).toEqual(alone);
    expect(along![0]).toBe(rewardAfter(tokenizer.encode('where <act>')));
    expect(new Set(along)).toHaveLength(4);
  });

  test('several conversations at once are read like each alone', async () => {
    const all = [2, 3, 1].map((answers) => read(beginning(answers), renderer));
    const alone = await Promise.all(all.map((one) => rewardsAlong(prefixRewards, [one])));
    expect(await rewardsAlong(prefixRewards, all)).toEqual(alone.flat());
  });
});

test('the template of Qwen3 drops reasoning before the last question: every answer is worth what it is at its end', async () => {
  const qwen = pretrainedConversation(await parityLanguage('tokenizer-qwen'), { maxTurnTokens: 64 });
  const reasoned: ConversationRow = {
    ...row,
    messages: row.messages.map((message) =>
      message.role === 'assistant' ? { ...message, reasoning: 'Which way?' } : message,
    ),
  };
  const whole = read(reasoned, qwen, 500);
  expect(whole.earlier).toHaveLength(2);
  const upTo = (answers: number) => ({ ...reasoned, messages: reasoned.messages.slice(0, 2 * answers) });
  const [along] = await rewardsAlong(prefixRewards, [whole]);
  const alone = await rewardsOf(
    prefixRewards,
    [1, 2, 3].map((answers) => read(upTo(answers), qwen, 500)),
  );
  expect(along!.slice(1)).toEqual(alone);
});

test('nothing is read beyond the context; the target of training is the end of the last answer', async () => {
  const whole = read(row, dropping);
  expect([whole.tokens, whole.cut]).toEqual([16, false]);
  const { ids_T, channels } = rewardRow(whole);
  expect([...channels.weight!].flatMap((weight, at) => (weight > 0 ? [at] : []))).toEqual([16]);
  expect(ids_T).toHaveLength(17);
  const cut = read(row, dropping, 9);
  expect([cut.tokens, cut.cut]).toEqual([16, true]);
  expect(cut.places_K1.map(({ tokens }) => tokens)).toEqual([2, 5, 8, 8]);
  for (const ids of [cut.ids_T, ...cut.earlier]) expect(ids.length).toBeLessThanOrEqual(9);
  const along = await rewardsAlong(prefixRewards, [cut]);
  expect(along[0]!.at(-1)).toBe(rewardAfter(whole.ids_T.subarray(0, 8)));
});

test('a conversation without answers is worth nothing', async () => {
  const silent = read({ ...row, messages: [user('where')] }, keeping);
  expect(await rewardsAlong(prefixRewards, [silent])).toEqual([[0]]);
  expect(await rewardsAlong(prefixRewards, [])).toEqual([]);
});
