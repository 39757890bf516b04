/** What `/responses` answers: the items of an answer, and the events that add up to them. */

import type { AnsweredChoice } from '../call-recorder.ts';
import type { ChatCall } from '../call-request.ts';
import type { Coming, Opening } from './coming.ts';
import { type Answer, refOf, type StreamEvent } from './dialect.ts';
import { pieces } from './pieces.ts';
import { tokenLogprobs } from './token-logprobs.ts';

interface TextPart {
  readonly type: 'output_text';
  readonly text: string;
  readonly annotations: readonly never[];
  readonly logprobs: readonly object[];
}
interface SummaryPart {
  readonly type: 'summary_text';
  readonly text: string;
}

export type OutputItem =
  | {
      readonly id: string;
      readonly type: 'reasoning';
      readonly status: string;
      readonly summary: readonly SummaryPart[];
    }
  | {
      readonly id: string;
      readonly type: 'message';
      readonly status: string;
      readonly role: 'assistant';
      readonly content: readonly TextPart[];
    }
  | {
      readonly id: string;
      readonly type: 'function_call';
      readonly status: string;
      readonly call_id: string;
      readonly name: string;
      readonly arguments: string;
    };

type Item<Type> = Extract<OutputItem, { readonly type: Type }>;

/** Thoughts, words (unless there are none, and calls), calls. Only words are cut: a call that was is among them. */
export function outputOf(
  { call: { finish }, answer, message, ref }: AnsweredChoice,
  { call, encrypted }: { readonly call: ChatCall; readonly encrypted: boolean },
): OutputItem[] {
  const { content, reasoning, toolCalls = [] } = message;
  const items: OutputItem[] = reasoning === undefined ? [] : [thoughtItem(ref, reasoning, encrypted)];
  if (content !== '' || toolCalls.length === 0) {
    const logprobs = call.logprobs ? tokenLogprobs(answer.told ?? []) : [];
    items.push({
      ...messageItem(ref, { type: 'output_text', text: content, annotations: [], logprobs }),
      status: finish === 'length' ? 'incomplete' : 'completed',
    });
  }
  for (const { id, name, arguments: given } of toolCalls) {
    items.push({
      id: `fc_${refOf(id)}`,
      type: 'function_call',
      status: 'completed',
      call_id: id,
      name,
      arguments: JSON.stringify(given),
    });
  }
  return items;
}

const thoughtItem = (ref: string, text: string, encrypted: boolean): Item<'reasoning'> => ({
  id: `rs_${ref}`,
  type: 'reasoning',
  status: 'completed',
  summary: [{ type: 'summary_text', text }],
  // Nothing is hidden here; clients without a store send it back.
  ...(encrypted && { encrypted_content: ref }),
});

const messageItem = (ref: string, part: TextPart): Item<'message'> => ({
  id: `msg_${ref}`,
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [part],
});

type Event = { readonly type: string } & Readonly<Record<string, unknown>>;

interface StreamParts {
  readonly coming: Coming;
  readonly encrypted: boolean;
  readonly items: (answer: Answer) => readonly OutputItem[];
  readonly begun: (opening: Opening) => object;
  readonly ended: (answer: Answer) => Event;
}

/** Item after item, each from `added` to `done`, between the response as it begins and as it ends. */
export async function* streamOf(parts: StreamParts): AsyncGenerator<StreamEvent> {
  let number = 0;
  for await (const { type, ...data } of eventsOf(parts)) {
    yield { event: type, data: { type, sequence_number: number++, ...data } };
  }
}

async function* eventsOf({ coming, encrypted, items, begun, ended }: StreamParts): AsyncGenerator<Event> {
  const opening = await coming.opening;
  const response = begun(opening);
  yield { type: 'response.created', response };
  yield { type: 'response.in_progress', response };
  let index = 0;
  if (yield* thoughtEvents(coming.reasoning, opening.ref, encrypted)) index++;
  const isSaid = yield* wordEvents(coming.content, opening.ref, index);
  const answer = await coming.answer;
  for (const item of items(answer)) {
    if (item.type === 'reasoning') continue;
    if (item.type === 'message') {
      if (!isSaid) yield* begunMessage(item, index);
      yield* endedMessage(item, index);
    } else {
      yield { type: 'response.output_item.added', output_index: index, item: begunItem(item) };
      yield* argumentEvents(item, { item_id: item.id, output_index: index });
    }
    yield { type: 'response.output_item.done', output_index: index++, item };
  }
  yield ended(answer);
}

function begunItem(item: OutputItem): object {
  const begun = { ...item, status: 'in_progress' };
  if (item.type === 'reasoning') return { ...begun, summary: [] };
  return item.type === 'message' ? { ...begun, content: [] } : { ...begun, arguments: '' };
}

interface ItemPlace {
  readonly item_id: string;
  readonly output_index: number;
}

/** The item of thoughts, the first, where there are any. Returns whether there are. */
async function* thoughtEvents(
  deltas: AsyncIterable<string>,
  ref: string,
  encrypted: boolean,
): AsyncGenerator<Event, boolean> {
  const place = { item_id: `rs_${ref}`, output_index: 0, summary_index: 0 };
  const part = (said: string): object => ({ type: 'summary_text', text: said });
  let text = '';
  for await (const delta of deltas) {
    if (text === '') {
      const item = begunItem(thoughtItem(ref, '', encrypted));
      yield { type: 'response.output_item.added', output_index: 0, item };
      yield { type: 'response.reasoning_summary_part.added', ...place, part: part('') };
    }
    text += delta;
    yield { type: 'response.reasoning_summary_text.delta', ...place, delta };
  }
  if (text === '') return false;
  yield { type: 'response.reasoning_summary_text.done', ...place, text };
  yield { type: 'response.reasoning_summary_part.done', ...place, part: part(text) };
  const item = thoughtItem(ref, text, encrypted);
  yield { type: 'response.output_item.done', output_index: 0, item };
  return true;
}

/** The item of words up to its end, where there are any. Returns whether there are. */
async function* wordEvents(
  deltas: AsyncIterable<string>,
  ref: string,
  index: number,
): AsyncGenerator<Event, boolean> {
  const item = messageItem(ref, { type: 'output_text', text: '', annotations: [], logprobs: [] });
  const place = { item_id: item.id, output_index: index, content_index: 0 };
  let isSaid = false;
  for await (const delta of deltas) {
    if (!isSaid) yield* begunMessage(item, index);
    isSaid = true;
    yield { type: 'response.output_text.delta', ...place, delta, logprobs: [] };
  }
  return isSaid;
}

function* begunMessage(item: Item<'message'>, index: number): Generator<Event> {
  const place = { item_id: item.id, output_index: index, content_index: 0 };
  yield { type: 'response.output_item.added', output_index: index, item: begunItem(item) };
  const part = { ...item.content[0]!, text: '', logprobs: [] };
  yield { type: 'response.content_part.added', ...place, part };
}

function* endedMessage({ id, content: [part] }: Item<'message'>, index: number): Generator<Event> {
  const place = { item_id: id, output_index: index, content_index: 0 };
  const { text, logprobs } = part!;
  yield { type: 'response.output_text.done', ...place, text, logprobs };
  yield { type: 'response.content_part.done', ...place, part };
}

function* argumentEvents(
  { name, arguments: given }: Item<'function_call'>,
  place: ItemPlace,
): Generator<Event> {
  for (const delta of pieces(given))
    yield { type: 'response.function_call_arguments.delta', ...place, delta };
  yield { type: 'response.function_call_arguments.done', ...place, name, arguments: given };
}
