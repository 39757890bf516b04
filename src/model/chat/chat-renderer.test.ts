import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../core/json/json.ts';
import { assistant, type Message, system, user } from '../../core/messages.ts';
import { parityLanguage, readExpected, TOKENIZERS } from '../testing/parity-data.ts';
import { chatRenderer } from './chat-renderer.ts';
import { ChatTemplate, templateMessage } from './chat-template.ts';
import { continued, type History, promptOf, start } from './prompts.test-helper.ts';
import { idsOfPrompt, promptAfter } from './token-path.ts';

const languages = {
  'tokenizer-qwen': await parityLanguage('tokenizer-qwen'),
  'tokenizer-llama3': await parityLanguage('tokenizer-llama3'),
};
const beginsWith = (ids: readonly number[], prefix: readonly number[]): boolean =>
  prefix.every((id, index) => ids[index] === id);

describe.each(TOKENIZERS)('%s', (name) => {
  const { tokenizer, template } = languages[name];

  test.each(readExpected(name).conversations)('as transformers renders it: $name', (conversation) => {
    const { messages, tools, add_generation_prompt: addGenerationPrompt, options } = conversation;
    const render = (): string =>
      template.render(messages, {
        addGenerationPrompt,
        ...(tools ? { tools } : {}),
        ...(options ? { variables: options } : {}),
      });
    if (conversation.error !== undefined) {
      expect(render).toThrow(
        expect.objectContaining({
          code: 'chat-template-refused',
          message: expect.stringContaining(conversation.error),
        }),
      );
      return;
    }
    expect(render()).toBe(conversation.text);
    expect(tokenizer.encode(conversation.text!)).toEqual(conversation.ids);
  });

  const turns = fc.array(
    fc.record({
      /** What the policy writes, in pieces that are encoded apart, as no tokenizer would. */
      pieces: fc.array(
        fc.oneof(
          fc.string({ unit: 'grapheme', maxLength: 6 }),
          fc.constantFrom('left', ' ', '\n', '<think>\nhm\n</think>\n\n', '</think>', '<tool_call>', '"'),
        ),
        { maxLength: 4 },
      ),
      /** Bytes of an unfinished character at the end. */
      cut: fc.boolean(),
      ending: fc.constantFrom('end of turn', 'another stop token', 'length'),
      reply: fc.array(
        fc.record({ role: fc.constantFrom('user', 'tool'), content: fc.string({ unit: 'grapheme' }) }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
    { minLength: 1, maxLength: 5 },
  );

  test('property: prompts are what the template renders, and extend what was sampled exactly when they can', () => {
    const stopIds = [...languages[name].stopIds, 284];
    const renderer = chatRenderer({ ...languages[name], stopIds }, { maxTurnTokens: 8, system: 'Be brief.' });
    let extended = 0;
    let rewritten = 0;
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), turns, (opening, all) => {
        const rendered = (messages: readonly Message[]): string =>
          template.render([system('Be brief.'), ...messages].map(templateMessage), {
            addGenerationPrompt: true,
          });
        let fresh: Message[] = [user(opening.normalize('NFC'))];
        let prompt = promptOf(renderer, start, fresh);
        let messages = fresh;
        expect(prompt.extendsPrevious).toBe(false);
        for (const { pieces, cut, ending, reply } of all) {
          const written = [
            ...pieces.flatMap((piece) => tokenizer.encode(piece.normalize('NFC'))),
            ...(cut ? tokenizer.encode('😀').slice(0, 2) : []),
          ];
          const stop =
            ending === 'length' ? [] : [ending === 'end of turn' ? renderer.completionIds('').at(-1)! : 284];
          const ids = [...written, ...stop];
          const history = continued(prompt, messages, { ids, text: renderer.text(ids) });
          fresh = reply.map(({ role, content }) => ({
            role: role as 'user' | 'tool',
            content: content.normalize('NFC'),
          }));
          messages = [...history.messages, ...fresh];
          const next = promptOf(renderer, history, fresh);
          const whole = rendered(messages);
          // The policy sees what the template renders, whether its own ids are kept or encoded again.
          expect(tokenizer.decode(next.promptIds)).toBe(whole);
          const seen = tokenizer.decode(prompt.promptIds) + renderer.text(ids) + tokenizer.decode(stop);
          expect(next.extendsPrevious).toBe(whole.startsWith(seen));
          if (next.extendsPrevious) {
            extended++;
            expect(beginsWith(next.promptIds, [...prompt.promptIds, ...ids])).toBe(true);
            expect(next.promptIds).toEqual([...prompt.promptIds, ...ids, ...next.contextIds]);
          } else {
            rewritten++;
          }
          prompt = next;
        }
      }),
      { numRuns: 150 },
    );
    expect(extended).toBeGreaterThan(50);
    expect(rewritten).toBeGreaterThan(50);
  });
});

describe('ChatML, as Qwen and SmolLM2 have it', () => {
  const parts = languages['tokenizer-qwen'];
  const renderer = chatRenderer(parts, { maxTurnTokens: 8 });
  const { tokenizer } = parts;
  const say = (history: History, fresh: readonly Message[], text: string): History => {
    const prompt = promptOf(renderer, history, fresh);
    return continued(prompt, [...history.messages, ...fresh], { ids: renderer.completionIds(text), text });
  };

  test('plain answers extend, turn after turn', () => {
    let history = start;
    for (const word of ['left', ' up ', 'down\n']) {
      const prompt = promptOf(renderer, history, [user(`after ${word}`)]);
      expect(prompt.extendsPrevious).toBe(history !== start);
      history = say(history, [user(`after ${word}`)], word);
    }
    expect(tokenizer.decode(history.ids)).toBe(
      '<|im_start|>user\nafter left<|im_end|>\n<|im_start|>assistant\nleft<|im_end|>\n<|im_start|>user\nafter  up <|im_end|>\n<|im_start|>assistant\n up <|im_end|>\n<|im_start|>user\nafter down\n<|im_end|>\n<|im_start|>assistant\ndown\n<|im_end|>',
    );
  });

  test('an answer that was cut by the limit is closed by the context, not by the sample', () => {
    const prompt = promptOf(renderer, start, [user('hi')]);
    const ids = tokenizer.encode('le');
    const history = continued(prompt, [user('hi')], { ids, text: renderer.text(ids) });
    const next = promptOf(renderer, history, [user('on')]);
    expect(next.extendsPrevious).toBe(true);
    expect(tokenizer.decode(next.contextIds)).toBe(
      '<|im_end|>\n<|im_start|>user\non<|im_end|>\n<|im_start|>assistant\n',
    );
  });

  test('reasoning before the last question is stripped by the template, so a new sample starts', () => {
    const thought = '<think>\nTwo and two.\n</think>\n\n4';
    const history = say(start, [user('2+2?')], thought);
    const next = promptOf(renderer, history, [user('sure?')]);
    expect(next.extendsPrevious).toBe(false);
    expect(tokenizer.decode(next.promptIds)).toBe(
      '<|im_start|>user\n2+2?<|im_end|>\n<|im_start|>assistant\n4<|im_end|>\n<|im_start|>user\nsure?<|im_end|>\n<|im_start|>assistant\n',
    );
  });

  test('reasoning between tool results is kept by the template, so the same sample goes on', () => {
    const call = '<think>\nAsk.\n</think>\n\n<tool_call>\n{"name": "sky", "arguments": {}}\n</tool_call>';
    const history = say(start, [user('Weather?')], call);
    const next = promptOf(renderer, history, [{ role: 'tool', content: 'rain' }]);
    expect(next.extendsPrevious).toBe(true);
    expect(tokenizer.decode(next.contextIds)).toBe(
      '\n<|im_start|>user\n<tool_response>\nrain\n</tool_response><|im_end|>\n<|im_start|>assistant\n',
    );
  });

  test('thinking switched off is written into the prompt, and not into its history: a new sample each turn', () => {
    const off = chatRenderer(parts, { maxTurnTokens: 8, variables: { enable_thinking: false } });
    const prompt = promptOf(off, start, [user('2+2?')]);
    expect(tokenizer.decode(prompt.promptIds)).toMatch(/<\|im_start\|>assistant\n<think>\n\n<\/think>\n\n$/);
    const history = continued(prompt, [user('2+2?')], { ids: off.completionIds('4'), text: '4' });
    expect(promptOf(off, history, [user('sure?')]).extendsPrevious).toBe(false);
  });

  test('ids become a message: reasoning, calls, content', () => {
    const ids = renderer.completionIds(
      '<think>\nAsk.\n</think>\n\nWait.\n<tool_call>\n{"name": "sky", "arguments": {"day": 1}}\n</tool_call>',
    );
    expect(renderer.message(ids)).toEqual({
      role: 'assistant',
      content: 'Wait.',
      reasoning: 'Ask.',
      toolCalls: [{ id: 'call_0', name: 'sky', arguments: { day: 1 } }],
    });
  });

  test('protocols read the answer without its reasoning', () => {
    expect(renderer.answer('<think>\nleft or right\n</think>\n\nleft')).toBe('left');
    expect(renderer.answer('<think>\nleft or')).toBe('');
  });

  test('an environment that opens with a system message has the word', () => {
    const told = chatRenderer(parts, { maxTurnTokens: 8, system: 'Be brief.' });
    const text = (messages: readonly Message[]): string =>
      tokenizer.decode(promptOf(told, start, messages).promptIds);
    expect(text([user('hi')])).toMatch(/^<\|im_start\|>system\nBe brief.<\|im_end\|>\n/);
    expect(text([system('Rules.'), user('hi')])).toMatch(/^<\|im_start\|>system\nRules.<\|im_end\|>\n/);
  });
});

describe('Llama 3', () => {
  const parts = languages['tokenizer-llama3'];
  const tools: JsonObject[] = [
    { type: 'function', function: { name: 'sky', description: 'The sky.', parameters: {} } },
  ];
  const renderer = chatRenderer(parts, { maxTurnTokens: 8, tools, translateToolCalls: true });
  const { tokenizer } = parts;

  test('the template trims answers: one with a space at its edge starts a new sample', () => {
    const extendsBeyond = (text: string): boolean => {
      const prompt = promptOf(renderer, start, [user('hi')]);
      const ids = renderer.completionIds(text);
      const history = continued(prompt, [user('hi')], { ids, text: renderer.text(ids) });
      return promptOf(renderer, history, [user('on')]).extendsPrevious;
    };
    expect(extendsBeyond('left')).toBe(true);
    expect(extendsBeyond('left ')).toBe(false);
  });

  test('calls are bare JSON, and protocols read them in tags', () => {
    const ids = renderer.completionIds('{"name": "sky", "parameters": {"day": 1}}');
    expect(tokenizer.decode(ids)).toMatch(/<\|eot_id\|>$/);
    expect(renderer.message(ids).toolCalls).toEqual([{ id: 'call_0', name: 'sky', arguments: { day: 1 } }]);
    expect(renderer.answer(renderer.text(ids))).toBe(
      '<tool_call>{"name":"sky","arguments":{"day":1}}</tool_call>',
    );
    expect(renderer.answer('the sky')).toBe('the sky');
    const prompt = promptOf(renderer, start, [user('hi')]);
    const history = continued(prompt, [user('hi')], { ids, text: renderer.text(ids) });
    const next = promptOf(renderer, history, [{ role: 'tool', content: 'rain' }]);
    expect(next.extendsPrevious).toBe(true);
    expect(tokenizer.decode(next.contextIds)).toBe(
      '<|start_header_id|>ipython<|end_header_id|>\n\nrain<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n',
    );
    expect(tokenizer.decode(prompt.promptIds)).toContain('"description": "The sky."');
  });
});

test('tool calls of messages are rendered as the family writes them', () => {
  const message: Message = { ...assistant(''), toolCalls: [{ id: 'x', name: 'sky', arguments: { day: 1 } }] };
  const { template } = languages['tokenizer-qwen'];
  expect(
    template.render([user('hi'), message].map(templateMessage), { addGenerationPrompt: false }),
  ).toContain('<tool_call>\n{"name": "sky", "arguments": {"day": 1}}\n</tool_call>');
});

test('a template without a system role has it said by the first question; one without end token uses the eos', () => {
  const { tokenizer, stopIds } = languages['tokenizer-qwen'];
  const source =
    "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}{{ m.role + ': ' + m.content + '\n' }}{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}";
  const renderer = chatRenderer(
    { tokenizer, stopIds, template: new ChatTemplate(source, 'x', {}) },
    { maxTurnTokens: 8, system: 'Be brief.' },
  );
  const prompt = promptOf(renderer, start, [user('hi')]);
  expect(tokenizer.decode(prompt.promptIds)).toBe('user: Be brief.\n\nhi\nassistant: ');
  expect(renderer.completionIds('yo').at(-1)).toBe(286);
});

describe.each(TOKENIZERS)('completions in another conversation, %s', (name) => {
  const { tokenizer } = languages[name];
  const renderer = chatRenderer(languages[name], { maxTurnTokens: 8 });

  /** Ids that no tokenizer would give for the text: letter by letter, closed as the policy closes a turn. */
  const sampled = (text: string): number[] => [
    ...[...text].flatMap((letter) => tokenizer.encode(letter)),
    renderer.completionIds('').at(-1)!,
  ];
  const completion = (id: number, text: string) => ({ id, ids: sampled(text), text });
  const has = (ids: readonly number[], part: readonly number[]): boolean =>
    ids.some((_, at) => part.every((one, index) => ids[at + index] === one));

  test('their sampled ids are spliced where the template writes them', () => {
    const [first, second] = [completion(0, 'up'), completion(1, 'all is well')];
    const said = [user('who is up'), second, user('and up?'), first, user('on')];
    const ids = idsOfPrompt(promptAfter([], said, renderer));
    const { template } = languages[name];
    const messages = [
      user('who is up'),
      assistant(second.text),
      user('and up?'),
      assistant('up'),
      user('on'),
    ];
    expect(tokenizer.decode([...ids])).toBe(
      template.render(messages.map(templateMessage), { addGenerationPrompt: true }),
    );
    expect(has([...ids], first.ids)).toBe(true);
    expect(has([...ids], second.ids)).toBe(true);
    expect([...ids]).not.toEqual(tokenizer.encode(tokenizer.decode([...ids])));
  });

  test('of what a template drops the rest keeps its ids, or its text is encoded', () => {
    const thought = completion(0, '<think>\nhm\n</think>\n\nfour');
    const ids = [...idsOfPrompt(promptAfter([], [user('2+2?'), thought, user('sure?')], renderer))];
    const { template } = languages[name];
    const whole = template.render(
      [user('2+2?'), assistant(thought.text), user('sure?')].map(templateMessage),
      { addGenerationPrompt: true },
    );
    expect(tokenizer.decode(ids)).toBe(whole);
    expect(
      has(
        ids,
        [...'four'].flatMap((letter) => tokenizer.encode(letter)),
      ),
    ).toBe(true);
    expect(has(ids, thought.ids)).toBe(!whole.includes('four') || whole.includes('hm'));
    // One token across the cut cannot be kept in part.
    const [whole4] = tokenizer.encode('>four').slice(-1);
    const joined = {
      ...thought,
      ids: [...tokenizer.encode('<think>\nhm\n</think>\n\nfour'), thought.ids.at(-1)!],
    };
    expect(whole4).toBeDefined();
    expect(
      tokenizer.decode([...idsOfPrompt(promptAfter([], [user('2+2?'), joined, user('sure?')], renderer))]),
    ).toBe(whole);
  });
});
