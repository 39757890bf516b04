/** Items of `/responses`: adjacent thoughts, words and calls of the assistant are one turn; the rest are messages. */

import { z } from 'zod';
import type { Message } from '../../../core/messages.ts';
import { badRequest, notFound } from '../api-error.ts';
import { type Reading, refOf } from './dialect.ts';
import { invalidValue, unsupported } from './parameters.ts';
import type { SaidTurn, Transcript } from './transcript.ts';

const part = z.looseObject({ type: z.string(), text: z.string().optional(), refusal: z.string().optional() });
const parts = z.union([z.string(), z.array(part)]);
const schemas = {
  message: z.object({
    role: z.enum(['user', 'system', 'developer', 'assistant']),
    content: parts,
    id: z.string().nullish(),
  }),
  function_call: z.object({ call_id: z.string().min(1), name: z.string().min(1), arguments: z.string() }),
  function_call_output: z.object({ call_id: z.string().min(1), output: parts }),
  reasoning: z.object({
    id: z.string().nullish(),
    summary: z.array(part).nullish(),
    content: z.array(part).nullish(),
  }),
  item_reference: z.object({ id: z.string() }),
};
type Kind = keyof typeof schemas;
type ItemOf<K extends Kind> = z.output<(typeof schemas)[K]>;

/** A turn of the assistant while its items come in. */
interface OpenTurn {
  readonly words: string[];
  readonly thoughts: string[];
  readonly calls: SaidTurn['calls'][number][];
  ref: string | undefined;
}

/** Adds the items to a conversation. @throws ApiError that names the item */
export function readItems(
  items: readonly Readonly<Record<string, unknown>>[],
  transcript: Transcript,
  reading: Reading,
): void {
  let turn: OpenTurn | undefined;
  const open = (): OpenTurn => {
    turn ??= { words: [], thoughts: [], calls: [], ref: undefined };
    return turn;
  };
  const close = (): void => {
    if (turn === undefined) return;
    const { words, thoughts, calls, ref } = turn;
    transcript.say({ content: words.join(''), reasoning: thoughts.join('\n'), calls, ref });
    turn = undefined;
  };
  /** Items of another answer are another turn. */
  const from = (id: string | null | undefined): OpenTurn => {
    const ref = id ? refOf(id) : undefined;
    const known = ref !== undefined && reading.kept(ref) !== undefined ? ref : undefined;
    if (known !== undefined && turn?.ref !== undefined && turn.ref !== known) close();
    const current = open();
    current.ref ??= known;
    return current;
  };
  for (const [index, item] of items.entries()) {
    const type = item.type ?? ('role' in item ? 'message' : undefined);
    const at = ['input', index] as const;
    if (type === 'message') {
      const { role, content, id } = check('message', item, at);
      const text = textOf(content, at);
      if (role === 'assistant') from(id).words.push(text);
      else {
        close();
        transcript.add({ role: role === 'user' ? 'user' : 'system', content: text });
      }
    } else if (type === 'reasoning') {
      const { id, summary, content } = check('reasoning', item, at);
      const told = content && content.length > 0 ? content : (summary ?? []);
      const thought = told.map(({ text = '' }) => text).join('\n');
      const current = from(id);
      if (thought !== '') current.thoughts.push(thought);
    } else if (type === 'function_call') {
      const { call_id: callId, name, arguments: given } = check('function_call', item, at);
      open().calls.push({ id: callId, name, arguments: given });
    } else if (type === 'function_call_output') {
      close();
      const { call_id: toolCallId, output } = check('function_call_output', item, at);
      transcript.add({ role: 'tool', content: textOf(output, at), toolCallId });
    } else if (type === 'item_reference') {
      refer(check('item_reference', item, at), from, reading);
    } else {
      throw unsupported(
        at.join('.'),
        `items of type "${String(type)}" are not known; send messages and function calls`,
      );
    }
  }
  close();
}

/** What a client names in place of sending it again. */
function refer({ id }: ItemOf<'item_reference'>, from: (id: string) => OpenTurn, reading: Reading): void {
  const message = reading.kept(refOf(id))?.answer.choices[0]?.message;
  if (message === undefined || !/^(msg|rs)_/.test(id)) {
    throw notFound('item_not_found', `There is no item "${id}" in this session.`, 'input');
  }
  const turn = from(id);
  if (id.startsWith('msg_')) turn.words.push(message.content);
  else if (message.reasoning !== undefined) turn.thoughts.push(message.reasoning);
}

function check<K extends Kind>(kind: K, item: object, at: readonly PropertyKey[]): ItemOf<K> {
  const checked = schemas[kind].safeParse(item);
  if (checked.success) return checked.data as ItemOf<K>;
  throw invalidValue(checked.error.issues[0]!, at);
}

function textOf(content: z.output<typeof parts>, at: readonly PropertyKey[]): string {
  if (typeof content === 'string') return content;
  return content
    .map(({ type, text, refusal }) => {
      const words = text ?? refusal;
      if (words !== undefined) return words;
      if (type === 'input_text' || type === 'output_text') {
        throw badRequest('invalid_value', `${at.map(String).join('.')}: a part has no text.`, 'input');
      }
      throw unsupported(at.map(String).join('.'), `parts of type "${type}" are not read; send text`);
    })
    .join('');
}

interface WireItem {
  readonly id: string;
  readonly type: string;
}

/** Messages as the items that they were, or could have been. */
export function wireItems(messages: readonly Message[]): WireItem[] {
  return messages.flatMap(({ role, content, toolCalls = [], toolCallId }, index): WireItem[] => {
    const id = `item_${index}`;
    if (role === 'tool')
      return [{ id, type: 'function_call_output', call_id: toolCallId, output: content } as WireItem];
    const kind = role === 'assistant' ? 'output_text' : 'input_text';
    const said = { id, type: 'message', role, content: [{ type: kind, text: content }] };
    const calls = toolCalls.map((call, position) => ({
      id: `${id}_${position}`,
      type: 'function_call',
      call_id: call.id,
      name: call.name,
      arguments: JSON.stringify(call.arguments),
    }));
    return content === '' && calls.length > 0 ? calls : [said, ...calls];
  });
}
