/** What is told of an unfinished answer stays true, wherever it ends. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { settledText, withoutPart } from './settled-text.ts';
import { readReply } from './tool-call-reply.ts';

const weather = { name: 'weather', description: '', parameters: { type: 'object', properties: {} } };
const pieces = fc.constantFrom(
  'warm',
  ' ',
  '\n',
  '<',
  '<tool',
  '<tool_call>',
  '</tool_call>',
  '{"name": "weather", "arguments": {}}',
  '{"name": "other", "arguments": {}}',
  '{"name": "weather", "parameters": {"a": 1}}',
  '<|python_tag|>',
  '{',
  '}',
);
const thoughts = fc.constantFrom(
  '',
  '<think>hm </think>',
  '<think>\nlong\n</think>\n\n',
  ' <think></think>',
  '<think>no end',
);
const texts = fc
  .tuple(thoughts, fc.array(pieces, { maxLength: 8 }))
  .map(([thought, rest]) => thought + rest.join(''));

test.each(['tags', 'bare', undefined] as const)('with calls in the form %s', (form) => {
  const tools = form === undefined ? [] : [weather];
  fc.assert(
    fc.property(texts, (text) => {
      const { content, reasoning = '' } = readReply(text, tools, form ?? 'tags');
      // An answer may be cut at any token, and is then read without calls where it had any.
      let before = { reasoning: '', content: '' };
      for (let length = 0; length <= text.length; length++) {
        const now = settledText(text.slice(0, length), form);
        expect(now.reasoning.startsWith(before.reasoning)).toBe(true);
        expect(now.content.startsWith(before.content)).toBe(true);
        before = now;
        const cut = readReply(text.slice(0, length), tools, form ?? 'tags');
        const read = cut.toolCalls.length > 0 ? readReply(text.slice(0, length), [], form ?? 'tags') : cut;
        expect((read.reasoning ?? '').startsWith(now.reasoning)).toBe(true);
        expect(read.content.startsWith(now.content)).toBe(true);
      }
      expect(reasoning.startsWith(before.reasoning)).toBe(true);
      expect(content.startsWith(before.content)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test('words are told at once, calls never', () => {
  expect(settledText('It is warm. <tool_call>{"na', 'tags').content).toBe('It is warm.');
  expect(settledText('It is <tool_', 'tags').content).toBe('It is');
  expect(settledText('It is <tool_', undefined).content).toBe('It is <tool_');
  expect(settledText('{"name": "weather"', 'bare').content).toBe('');
  expect(settledText('{"a": 1', undefined).content).toBe('{"a": 1');
  expect(settledText('<think>so it', 'tags')).toEqual({ reasoning: 'so it', content: '' });
  expect(settledText('<think>so it is</think>\n\nyes', 'tags')).toEqual({
    reasoning: 'so it is',
    content: 'yes',
  });
});

test('a mark that may be beginning is left out', () => {
  expect(withoutPart('a b EN', ['END'])).toBe('a b ');
  expect(withoutPart('a b END', ['END'])).toBe('a b END');
  expect(withoutPart('a', [])).toBe('a');
  expect(withoutPart('xaba', ['abab', 'q'])).toBe('x');
});
