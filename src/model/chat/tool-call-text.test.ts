import { expect, test } from 'vitest';
import { readMessage, splitReasoning } from './tool-call-text.ts';

const call = (name: string, input: object, id = 'call_0') => ({ id, name, arguments: input });

test('reasoning ends at </think>; what is not finished has no answer', () => {
  expect(splitReasoning('<think>\nplan\n</think>\n\ngo')).toEqual({ reasoning: 'plan', rest: 'go' });
  expect(splitReasoning('plan\n</think>\n\ngo')).toEqual({ reasoning: 'plan', rest: 'go' });
  expect(splitReasoning('<think>\nplan')).toEqual({ reasoning: 'plan', rest: '' });
  expect(splitReasoning('go')).toEqual({ rest: 'go' });
});

test('tagged calls: several, with text around; arguments may be text', () => {
  const text =
    '<think>x</think>On it.\n<tool_call>\n{"name": "a", "arguments": {"n": 1}}\n</tool_call>\n<tool_call>{"name": "b", "arguments": "{\\"m\\": 2}"}</tool_call>';
  expect(readMessage(text, 'tags')).toEqual({
    role: 'assistant',
    content: 'On it.',
    reasoning: 'x',
    toolCalls: [call('a', { n: 1 }), call('b', { m: 2 }, 'call_1')],
  });
});

test.each([
  ['{"name": "a", "parameters": {"n": 1}}', 'a', { n: 1 }],
  ['<|python_tag|>{"name": "a", "arguments": {"n": 1}}', 'a', { n: 1 }],
  ['<|python_tag|>search.call(query="a, \\"b\\"", count=2)', 'search', { query: 'a, "b"', count: 2 }],
  ['<|python_tag|>print(1)', 'ipython', { code: 'print(1)' }],
])('bare calls: %s', (text, name, input) => {
  expect(readMessage(text, 'bare')).toEqual({
    role: 'assistant',
    content: '',
    toolCalls: [call(name, input)],
  });
});

test.each([
  ['<tool_call>{"name": "a", "arguments": {</tool_call>', 'tags'],
  ['<tool_call>{"arguments": {}}</tool_call>', 'tags'],
  ['<tool_call>{"name": "a", "arguments": [1]}</tool_call>', 'tags'],
  ['{"name": 1, "parameters": {}}', 'bare'],
  ['{"name": "a"', 'bare'],
  ['plain text', 'bare'],
] as const)('what cannot be read stays content: %s', (text, form) => {
  expect(readMessage(text, form)).toEqual({ role: 'assistant', content: text });
});
