import fc from 'fast-check';
import { expect, test } from 'vitest';
import { user } from '../../core/messages.ts';
import { ACT_ID, END_ID, SPECIAL_TOKENS, UNKNOWN_ID, WordTokenizer } from '../tokenizer/word-tokenizer.ts';
import { promptOf, start } from './prompts.test-helper.ts';
import { type Renderer, wordRenderer } from './renderer.ts';

const tokenizer = WordTokenizer.fromTexts(['go left', 'go  right\nnow']);

test('a vocabulary is the special tokens and the words, sorted', () => {
  expect(tokenizer.words).toEqual([...SPECIAL_TOKENS, 'go', 'left', 'now', 'right']);
  expect(tokenizer.encode('go up')).toEqual([4, UNKNOWN_ID]);
});

test('property: known words survive encoding and decoding', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('go', 'left', 'now', 'right')), (words) => {
      expect(tokenizer.decode(tokenizer.encode(words.join(' ')))).toBe(words.join(' '));
    }),
  );
});

test('a foreign word list is refused', () => {
  expect(() => new WordTokenizer(['a', 'b'])).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: A word tokenizer must have <pad> as id 0. Seen: "a". Use the tokenizer.json that was saved with the checkpoint.]`,
  );
});

const ids = (renderer: Renderer): readonly number[] =>
  promptOf(renderer, start, [user('go left')]).contextIds;

test('one-word actions need no marks; longer ones open with <act> and close with <end>', () => {
  const plain = wordRenderer(tokenizer, 1);
  expect(ids(plain)).toEqual([4, 5]);
  expect(plain.completionIds('left')).toEqual([5]);
  expect(plain).toMatchObject({ stopIds: [], maxTurnTokens: 1 });
  const marked = wordRenderer(tokenizer, 3);
  expect(ids(marked)).toEqual([4, 5, ACT_ID]);
  expect(marked.completionIds('go right')).toEqual([4, 7, END_ID]);
  expect(marked.text([4, 7, END_ID])).toBe('go right');
  expect(marked.text([4, 7])).toBe('go right');
  expect(marked).toMatchObject({ stopIds: [END_ID], maxTurnTokens: 4 });
});
