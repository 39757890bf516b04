import { expect, test } from 'vitest';
import type { Prompt } from '../model/chat/renderer.ts';
import { wordRenderer } from '../model/chat/renderer.ts';
import { WordTokenizer } from '../model/tokenizer/word-tokenizer.ts';
import { checkedContext, defineContext, fullContext } from './context.ts';

const renderer = wordRenderer(WordTokenizer.fromTexts(new Set(['a b c'])), 1);
const history = { ids: [5, 6], messages: [] };
const fresh = [{ role: 'user', content: 'c' }] as const;

const given = (prompt: unknown): (() => Prompt) => {
  const strategy = defineContext({ name: 'mine', summary: '', next: () => prompt as Prompt });
  return () => checkedContext(strategy, 'Context "mine" of /mine.ts').next(history, fresh, renderer);
};

test('a prompt that leads from the last completion, or begins anew, is taken as it is', () => {
  const grown = { promptIds: [5, 6, 7], contextIds: [7], extendsPrevious: true };
  expect(given(grown)()).toBe(grown);
  const anew = { promptIds: [7], contextIds: [7], extendsPrevious: false };
  expect(given(anew)()).toBe(anew);
  const whole = fullContext.next(history, fresh, renderer);
  expect(checkedContext(fullContext, 'full').next(history, fresh, renderer)).toEqual(whole);
});

test.each([
  ['nothing', undefined, /must return a prompt\. Seen: undefined/],
  ['no tokens', { promptIds: [], contextIds: [], extendsPrevious: false }, /at least one token/],
  ['halves', { promptIds: [1.5], contextIds: [1.5], extendsPrevious: false }, /must return a prompt/],
  [
    'another past',
    { promptIds: [5, 9, 7], contextIds: [7], extendsPrevious: true },
    /goes on from the last completion/,
  ],
  [
    'a part',
    { promptIds: [8, 7], contextIds: [7], extendsPrevious: false },
    /the whole prompt as its context/,
  ],
])('a context that gives %s is refused by its name', (_, prompt, message) => {
  expect(given(prompt)).toThrow(message);
  expect(given(prompt)).toThrow(/^Context "mine" of \/mine\.ts/);
});
