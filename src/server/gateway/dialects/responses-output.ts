/** What `/responses` answers: the items of an answer, and the events that add up to them. */

import type { AnsweredChoice } from '../call-recorder.ts';
import type { ChatCall } from '../call-request.ts';
import { refOf, type StreamEvent } from './dialect.ts';
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

/** Thoughts, words (unless there are none, and calls), calls. Only words are cut: a call that was is among them. */
export function outputOf(
  { call: { finish }, answer, message, ref }: AnsweredChoice,
  { call, encrypted }: { readonly call: ChatCall; readonly encrypted: boolean },
): OutputItem[] {
  const { content, reasoning, toolCalls = [] } = message;
  const items: OutputItem[] = [];
  if (reasoning !== undefined) {
    items.push({
      id: `rs_${ref}`,
      type: 'reasoning',
      status: 'completed',
      summary: [{ type: 'summary_text', text: reasoning }],
      // Nothing is hidden here; clients without a store send it back.
      ...(encrypted && { encrypted_content: ref }),
    });
  }
  if (content !== '' || toolCalls.length === 0) {
    const logprobs = call.logprobs ? tokenLogprobs(answer.told ?? []) : [];
    items.push({
      id: `msg_${ref}`,
      type: 'message',
      status: finish === 'length' ? 'incomplete' : 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: content, annotations: [], logprobs }],
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

type Event = { readonly type: string } & Readonly<Record<string, unknown>>;

/** Item after item, each from `added` to `done`, between the response as it begins and as it ends. */
export function* streamOf(parts: {
  readonly items: readonly OutputItem[];
  readonly begun: object;
  readonly ended: Event;
}): Generator<StreamEvent> {
  let number = 0;
  for (const { type, ...data } of eventsOf(parts)) {
    yield { event: type, data: { type, sequence_number: number++, ...data } };
  }
}

function* eventsOf({ items, begun, ended }: Parameters<typeof streamOf>[0]): Generator<Event> {
  yield { type: 'response.created', response: begun };
  yield { type: 'response.in_progress', response: begun };
  for (const [index, item] of items.entries()) {
    const place = { item_id: item.id, output_index: index };
    yield { type: 'response.output_item.added', output_index: index, item: begunItem(item) };
    if (item.type === 'reasoning') yield* summaryEvents(item.summary, place);
    else if (item.type === 'message') yield* textEvents(item.content, place);
    else yield* argumentEvents(item, place);
    yield { type: 'response.output_item.done', output_index: index, item };
  }
  yield ended;
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

function* summaryEvents(summary: readonly SummaryPart[], item: ItemPlace): Generator<Event> {
  for (const [index, { text }] of summary.entries()) {
    const place = { ...item, summary_index: index };
    const part = (said: string): object => ({ type: 'summary_text', text: said });
    yield { type: 'response.reasoning_summary_part.added', ...place, part: part('') };
    for (const delta of pieces(text))
      yield { type: 'response.reasoning_summary_text.delta', ...place, delta };
    yield { type: 'response.reasoning_summary_text.done', ...place, text };
    yield { type: 'response.reasoning_summary_part.done', ...place, part: part(text) };
  }
}

function* textEvents(content: readonly TextPart[], item: ItemPlace): Generator<Event> {
  for (const [index, part] of content.entries()) {
    const { text, logprobs } = part;
    const place = { ...item, content_index: index };
    yield { type: 'response.content_part.added', ...place, part: { ...part, text: '', logprobs: [] } };
    for (const delta of pieces(text))
      yield { type: 'response.output_text.delta', ...place, delta, logprobs: [] };
    yield { type: 'response.output_text.done', ...place, text, logprobs };
    yield { type: 'response.content_part.done', ...place, part };
  }
}

function* argumentEvents(
  item: Extract<OutputItem, { readonly type: 'function_call' }>,
  place: ItemPlace,
): Generator<Event> {
  const { name, arguments: given } = item;
  for (const delta of pieces(given))
    yield { type: 'response.function_call_arguments.delta', ...place, delta };
  yield { type: 'response.function_call_arguments.done', ...place, name, arguments: given };
}
