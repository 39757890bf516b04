import { describe, expect, test } from 'vitest';
import type { Message } from '../../core/messages.ts';
import { parityLanguage, TOKENIZERS } from '../testing/parity-data.ts';
import { ChatTemplate } from './chat-template.ts';
import type { ToolDeclaration } from './conversation.ts';
import { pretrainedConversation } from './pretrained-conversation.ts';
import { continued, promptOf, start } from './prompts.test-helper.ts';

const languages = {
  'tokenizer-qwen': await parityLanguage('tokenizer-qwen'),
  'tokenizer-llama3': await parityLanguage('tokenizer-llama3'),
};
const written = {
  'tokenizer-qwen': '<tool_call>\n{"name": "find", "arguments": {"item": "figs"}}\n</tool_call>',
  'tokenizer-llama3': '{"name": "find", "parameters": {"item": "figs"}}',
};
const find: ToolDeclaration = {
  name: 'find',
  description: 'Where something is.',
  parameters: { type: 'object', properties: { item: { type: 'string' } } },
};
const question: Message[] = [{ role: 'user', content: 'which shelf has figs' }];
const result: Message[] = [{ role: 'tool', content: 'green', toolCallId: 'a' }];

describe.each(TOKENIZERS)('%s', (name) => {
  const { tokenizer } = languages[name];
  const renderer = pretrainedConversation(languages[name], { maxTurnTokens: 64 });

  test('the template describes the tools of each call', () => {
    const text = (tools: ToolDeclaration[]): string =>
      tokenizer.decode(promptOf(renderer, start, question, tools).promptIds);
    expect(text([find])).toContain('Where something is.');
    expect(text([])).not.toContain('Where something is.');
  });

  test('a call is read, and the prompt with its result extends what was sampled, token for token', () => {
    expect(renderer.read(written[name], [find])).toEqual({
      content: '',
      toolCalls: [{ name: 'find', arguments: { item: 'figs' } }],
    });
    const first = promptOf(renderer, start, question, [find]);
    const ids = renderer.completionIds(written[name]);
    const history = continued(first, question, { ids, text: written[name] });
    const second = promptOf(renderer, history, result, [find]);
    expect(second.extendsPrevious).toBe(true);
    expect(second.promptIds.slice(0, first.promptIds.length + ids.length)).toEqual([
      ...first.promptIds,
      ...ids,
    ]);
    expect(tokenizer.decode(second.contextIds)).toContain('green');
  });

  test('calls of unknown tools stay content, and without tools nothing is a call', () => {
    expect(renderer.read(written[name].replace('find', 'cook'), [find])).toEqual({
      content: written[name].replace('find', 'cook'),
      toolCalls: [],
      problem: 'there is no tool "cook"',
    });
    expect(renderer.read(written[name], [])).toEqual({ content: written[name], toolCalls: [] });
  });

  test('a forced call begins as the template writes calls; any end of it is read', () => {
    const begin = (tool?: string): string =>
      tokenizer.decode(renderer.forcedIds!(tool === undefined ? {} : { name: tool }));
    expect(written[name].startsWith(begin())).toBe(true);
    expect(begin().endsWith('"name": "')).toBe(true);
    expect(written[name].startsWith(begin('find'))).toBe(true);
    const rest = written[name].slice(begin('find').length);
    expect(rest.startsWith('{"item"')).toBe(true);
    expect(renderer.read(begin('find') + rest, [find]).toolCalls).toHaveLength(1);
  });
});

test('reasoning is apart from the answer; a call that is cut short is told', () => {
  const renderer = pretrainedConversation(languages['tokenizer-qwen'], { maxTurnTokens: 64 });
  expect(renderer.read('<think>\nhm\n</think>\n\ngreen', [])).toEqual({
    content: 'green',
    reasoning: 'hm',
    toolCalls: [],
  });
  expect(renderer.read('<tool_call>\n{"name": "fi', [find])).toEqual({
    content: '<tool_call>\n{"name": "fi',
    toolCalls: [],
    problem: 'a tool call that cannot be read',
  });
});

test('a template that knows contents alone: calls and thoughts are written as tags, in answers and in history', () => {
  const template = new ChatTemplate(
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}" +
      '{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}',
    'a test',
    {},
  );
  const parts = { ...languages['tokenizer-qwen'], template };
  const renderer = pretrainedConversation(parts, { maxTurnTokens: 64 });
  const toolCalls = [{ id: 'a', name: 'find', arguments: { item: 'figs' } }];
  const call: Message = { role: 'assistant', content: '', toolCalls };
  const text = renderer.written!(call);
  expect(renderer.read(text, [find]).toolCalls).toEqual([{ name: 'find', arguments: { item: 'figs' } }]);
  // Words that name the tool do not stand for the call.
  expect(renderer.written!({ ...call, content: 'find it' })).toBe(`find it\n${text}`);
  const thought = renderer.written!({ role: 'assistant', content: 'green', reasoning: 'hm' });
  expect(renderer.read(thought, [])).toEqual({ content: 'green', reasoning: 'hm', toolCalls: [] });
  const { promptIds } = promptOf(renderer, start, [...question, call, ...result], [find]);
  expect(parts.tokenizer.decode(promptIds)).toContain(`assistant\n${text}<|im_end|>`);
});
