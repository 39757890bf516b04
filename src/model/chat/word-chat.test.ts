import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Message } from '../../core/messages.ts';
import { parseReply, writeReply } from '../../core/word-reply.ts';
import { ACT_ID, END_ID, WordTokenizer } from '../tokenizer/word-tokenizer.ts';
import type { ToolDeclaration } from './conversation.ts';
import { continued, promptOf, start } from './prompts.test-helper.ts';
import { CHAT_WORDS, wordChatRenderer } from './word-chat.ts';

const tools: ToolDeclaration[] = [
  {
    name: 'book',
    description: '',
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        nights: { type: 'integer' },
        extras: { type: 'array', items: { type: 'string' } },
        kind: { enum: ['room', 'suite'] },
      },
    },
  },
  { name: 'quit', description: '', parameters: { type: 'object', properties: {} } },
];

describe('calls are a few words', () => {
  test('written and read back, with the types of the schema', () => {
    const reply = {
      content: 'here goes',
      toolCalls: [
        { name: 'book', arguments: { city: 'new york', nights: 2, extras: ['tea', 'tv'], kind: 'suite' } },
        { name: 'quit', arguments: {} },
      ],
    };
    const text = writeReply(reply);
    expect(text).toBe(
      'here goes <call> book city: new york nights: 2 extras: ["tea","tv"] kind: suite <call> quit',
    );
    expect(parseReply(text, tools)).toEqual(reply);
  });

  test('property: whatever a call says comes back, up to white space', () => {
    const words = fc.array(fc.stringMatching(/^[a-z0-9]{1,6}$/), { maxLength: 3 }).map((w) => w.join(' '));
    const given = fc.record(
      { city: words, nights: fc.integer(), extras: fc.array(fc.stringMatching(/^[a-z]*$/)), kind: words },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(words, fc.array(given, { maxLength: 3 }), (content, calls) => {
        const reply = {
          content,
          toolCalls: calls.map((value) => ({ name: 'book', arguments: { ...value } })),
        };
        expect(parseReply(writeReply(reply), tools)).toEqual(reply);
      }),
    );
  });

  test.each([
    ['<call> cook city: rome', 'there is no tool "cook"'],
    ['<call>', 'there is no tool ""'],
    ['<call> book rome', 'book: "rome" belongs to no argument'],
    ['<call> book city: rome city: oslo', 'book: "city" is given twice'],
    ['<call> book nights: two', 'book: "nights" is not JSON'],
    ['first <call> book city: rome <call> cook', 'there is no tool "cook"'],
  ])('%s stays text, with the problem', (text, problem) => {
    expect(parseReply(text, tools)).toEqual({ content: text, toolCalls: [], problem });
  });
});

test('property: whatever is sampled, the next prompt extends prompt and completion', () => {
  const vocabulary = 'a b c city: rome book quit';
  const renderer = wordChatRenderer(WordTokenizer.fromTexts([...CHAT_WORDS, vocabulary]), 8);
  const size = CHAT_WORDS.length + 4 + vocabulary.split(' ').length;
  const completion = fc.array(fc.integer({ min: 0, max: size - 1 }), { maxLength: 8 });
  const message = fc.record({
    role: fc.constantFrom('user' as const, 'tool' as const),
    content: fc.constantFrom('a b', 'c', ''),
  });
  fc.assert(
    fc.property(completion, fc.array(message), (sampled, fresh) => {
      const opening = promptOf(renderer, start, [{ role: 'user', content: 'a b' }]);
      const before = [...opening.promptIds, ...sampled];
      const history = continued(opening, [], { ids: sampled, text: renderer.text(sampled) });
      const next = promptOf(renderer, history, fresh, tools).promptIds;
      expect(next.slice(0, before.length)).toEqual(before);
      // One turn ends before the next message begins, and the policy speaks next.
      expect(next.slice(before.length - (sampled.at(-1) === END_ID ? 1 : 0))[0]).toBe(END_ID);
      expect(next.at(-1)).toBe(ACT_ID);
    }),
  );
});

test('a conversation with earlier answers in it is rendered as it would have been sampled', () => {
  const renderer = wordChatRenderer(WordTokenizer.fromTexts([...CHAT_WORDS, 'a b city: rome book']), 8);
  const answer: Message = {
    role: 'assistant',
    content: '',
    toolCalls: [{ id: 'x', name: 'book', arguments: { city: 'rome' } }],
  };
  const opening = promptOf(renderer, start, [{ role: 'user', content: 'a' }]);
  const text = '<call> book city: rome';
  const sampled = renderer.completionIds(text);
  const result: Message = { role: 'tool', content: 'b', toolCallId: 'x' };
  const history = continued(opening, [], { ids: sampled, text });
  const grown = promptOf(renderer, history, [result], tools);
  expect(grown.extendsPrevious).toBe(true);
  expect(
    promptOf(renderer, start, [{ role: 'user', content: 'a' }, answer, result], tools).promptIds,
  ).toEqual(grown.promptIds);
});
