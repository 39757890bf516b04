/** What clients do to a history on its way back, harmless and not: a harmless change finds its parent, no other one passes for it. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Message } from '../../../core/messages.ts';
import type { ChatCall } from '../call-request.ts';
import { Conversations } from '../conversations.ts';
import { readChatCall } from './chat-completions.ts';
import { FIRST_READING, type Reading } from './dialect.ts';
import { messages as messagesDialect } from './messages.ts';
import { responses } from './responses.ts';

interface Turn {
  readonly question: string;
  readonly words: string;
  readonly thought: string;
  readonly calls: readonly { readonly city: string; readonly days: number }[];
}

const text = fc.constantFrom('so', ' Let me look.\n', 'It is 21\u00a0degrees.  \n', 'Zürich', '{"a": 1}');
const turn: fc.Arbitrary<Turn> = fc.record({
  question: fc.constantFrom('how', 'why', 'when', 'who'),
  words: text,
  thought: fc.constantFrom('', 'hm', 'well then'),
  calls: fc.array(fc.record({ city: fc.constantFrom('Zürich', 'Bern'), days: fc.constantFrom(1, 2.5) }), {
    maxLength: 2,
  }),
});

/** How one client writes what it was told; each way is one that was seen. */
interface Manner {
  readonly words: 'same' | 'trimmed' | 'blocks';
  readonly given: 'same' | 'spaced' | 'reordered' | 'escaped';
  readonly thought: 'kept' | 'left out';
  readonly system: 'system' | 'developer';
}
const manner: fc.Arbitrary<Manner> = fc.record({
  words: fc.constantFrom('same', 'trimmed', 'blocks'),
  given: fc.constantFrom('same', 'spaced', 'reordered', 'escaped'),
  thought: fc.constantFrom('kept', 'left out'),
  system: fc.constantFrom('system', 'developer'),
});

const idOf = (index: number, position: number): string => `call_tag_${index}_${position}`;
const trimmed = (words: string, { words: how }: Manner): string => (how === 'trimmed' ? words.trim() : words);
function given({ city, days }: Turn['calls'][number], { given: how }: Manner): string {
  if (how === 'reordered') return JSON.stringify({ days, city });
  if (how === 'spaced') return `{ "city": ${JSON.stringify(city)},\n "days": ${days.toFixed(1)} }`;
  const plain = JSON.stringify({ city, days });
  return how === 'escaped' ? plain.replace('ü', '\\u00fc') : plain;
}
/** Halves, which are one text again where they are joined. */
const halves = (words: string, { words: how }: Manner): string[] =>
  how === 'blocks' ? [words.slice(0, 2), words.slice(2)] : [words];

function chatBody(turns: readonly Turn[], how: Manner): object {
  const said = turns.flatMap(({ question, words, thought, calls }, index) => [
    { role: 'user', content: question },
    {
      role: 'assistant',
      content: halves(trimmed(words, how), how).map((part) => ({ type: 'text', text: part, refusal: null })),
      ...(how.thought === 'kept' && { reasoning_content: thought }),
      ...(calls.length > 0 && {
        tool_calls: calls.map((call, position) => ({
          id: idOf(index, position),
          type: 'function',
          function: { name: 'look', arguments: given(call, how) },
        })),
      }),
      provider_specific_fields: null,
    },
    ...calls.map((_, position) => ({ role: 'tool', tool_call_id: idOf(index, position), content: '21' })),
  ]);
  return {
    model: 'policy',
    messages: [{ role: how.system, content: 'be kind' }, ...said, { role: 'user', content: 'on' }],
  };
}

function responsesBody(turns: readonly Turn[], how: Manner): object {
  const input = turns.flatMap(({ question, words, thought, calls }, index) => [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: question }] },
    ...(how.thought === 'kept' && thought !== ''
      ? [{ type: 'reasoning', id: 'rs_x', summary: [{ type: 'summary_text', text: thought }] }]
      : []),
    ...(words.trim() === ''
      ? []
      : halves(trimmed(words, how), how).map((part) => ({ role: 'assistant', content: part, phase: null }))),
    ...calls.map((call, position) => ({
      type: 'function_call',
      call_id: idOf(index, position),
      name: 'look',
      arguments: given(call, how),
      parsed_arguments: null,
    })),
    ...calls.map((_, position) => ({
      type: 'function_call_output',
      call_id: idOf(index, position),
      output: '21',
    })),
  ]);
  const on = { role: 'user', content: 'on' };
  return how.system === 'system'
    ? { model: 'policy', instructions: 'be kind', input: [...input, on] }
    : { model: 'policy', input: [{ role: 'developer', content: 'be kind' }, ...input, on] };
}

function messagesBody(turns: readonly Turn[], how: Manner): object {
  const said = turns.flatMap(({ question, words, thought, calls }, index) => [
    { role: 'user', content: question },
    {
      role: 'assistant',
      content: [
        ...(how.thought === 'kept' && thought !== ''
          ? [{ type: 'thinking', thinking: thought, signature: 's' }]
          : []),
        ...halves(trimmed(words, how), how).map((part) => ({ type: 'text', text: part, citations: null })),
        ...calls.map((call, position) => ({
          type: 'tool_use',
          id: idOf(index, position),
          name: 'look',
          input: JSON.parse(given(call, how)) as object,
        })),
      ],
    },
    ...(calls.length === 0
      ? []
      : [
          {
            role: 'user',
            content: calls.map((_, position) => ({
              type: 'tool_result',
              tool_use_id: idOf(index, position),
              content: [{ type: 'text', text: '21' }],
            })),
          },
        ]),
  ]);
  const system =
    how.system === 'system'
      ? 'be kind'
      : [
          { type: 'text', text: 'be ' },
          { type: 'text', text: 'kind' },
        ];
  return { model: 'policy', max_tokens: 9, system, messages: [...said, { role: 'user', content: 'on' }] };
}

const reading: Reading = FIRST_READING;
const DIALECTS: [string, (turns: readonly Turn[], how: Manner) => ChatCall][] = [
  ['chat completions', (turns, how) => readChatCall(chatBody(turns, how))],
  ['responses', (turns, how) => responses.read(responsesBody(turns, how), reading).call as ChatCall],
  ['messages', (turns, how) => messagesDialect.read(messagesBody(turns, how), reading).call as ChatCall],
];

/** The conversation as it was had: every question and the answer that was given. */
function had(turns: readonly Turn[]): Conversations<number> {
  const known = new Conversations<number>();
  const history: Message[] = [{ role: 'system', content: 'be kind' }];
  for (const [index, { question, words, thought, calls }] of turns.entries()) {
    history.push({ role: 'user', content: question });
    const answer: Message = {
      role: 'assistant',
      content: words,
      ...(thought !== '' && { reasoning: thought }),
      ...(calls.length > 0 && {
        toolCalls: calls.map((call, position) => ({
          id: idOf(index, position),
          name: 'look',
          arguments: { ...call },
        })),
      }),
    };
    known.add([...history], [], answer, index);
    history.push(answer);
    for (const [position] of calls.entries())
      history.push({ role: 'tool', content: '21', toolCallId: idOf(index, position) });
  }
  return known;
}

const turns = fc.array(turn, { minLength: 1, maxLength: 4 });

test.each(DIALECTS)('%s: whatever a client does to the wording, the last answer is found', (_name, write) => {
  fc.assert(
    fc.property(turns, manner, (said, how) => {
      const { messages, refs } = write(said, how);
      const found = had(said).find(messages, [], refs);
      expect(found).toMatchObject({ parent: said.length - 1, base: said.length - 1, change: undefined });
      expect(found.rest.at(-1)).toEqual({ role: 'user', content: 'on' });
    }),
  );
});

const edits: Record<string, (turn: Turn) => Turn> = {
  'other words': (one) => ({ ...one, words: `${one.words.trim()} indeed` }),
  'another argument': (one) => ({ ...one, calls: [{ city: 'Rome', days: 1 }, ...one.calls.slice(1)] }),
  'other thoughts': (one) => ({ ...one, thought: 'never' }),
  'another question': (one) => ({ ...one, question: 'whence' }),
};

test.each(DIALECTS)('%s: no edit of what was said or asked passes for none', (_name, write) => {
  fc.assert(
    fc.property(turns, manner, fc.constantFrom(...Object.keys(edits)), fc.nat(), (said, how, kind, at) => {
      const index = at % said.length;
      const edited = said.map((one, position) => (position === index ? edits[kind]!(one) : one));
      const { messages, refs } = write(edited, { ...how, thought: 'kept' });
      const { base, parent, change } = had(said).find(messages, [], refs);
      // Only what stands before the edit can be gone on from as it was sampled.
      expect(base ?? -1).toBeLessThan(index);
      if (parent !== undefined && parent >= index) expect(change).toBeDefined();
    }),
  );
});
