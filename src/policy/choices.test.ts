import { expect, test } from 'vitest';
import { wordRenderer } from '../model/chat/renderer.ts';
import { WordTokenizer } from '../model/tokenizer/word-tokenizer.ts';
import { choiceIds } from './choices.ts';

const renderer = wordRenderer(WordTokenizer.fromTexts(['go left right']), 3);
const textsOf = (texts: readonly string[]) => choiceIds(texts, renderer)?.map((ids) => renderer.text(ids));

test('each once, without those whose words the model does not know', () => {
  expect(textsOf(['left', 'right', 'left'])).toEqual(['left', 'right']);
  expect(textsOf(['left', 'up', 'go down', 'right'])).toEqual(['left', 'right']);
});

test('none, where no text can be written', () => {
  expect(textsOf([])).toBeUndefined();
  expect(textsOf(['up', 'down'])).toBeUndefined();
});

test('none, where there are too many', () => {
  expect(textsOf(Array.from({ length: 300 }, (_, index) => `go ${index}`))).toBeUndefined();
});
