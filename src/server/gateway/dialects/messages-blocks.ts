/** Content of `/messages`: text, or blocks. Results of tools stand among the blocks of a user, and are messages of their own. */

import { z } from 'zod';
import type { JsonObject } from '../../../core/json/json.ts';
import { unsupported } from './parameters.ts';
import type { SaidTurn, Transcript } from './transcript.ts';

const text = z.object({ type: z.literal('text'), text: z.string() });
/** Of what is not read, so that its name can be told. */
const other = z.looseObject({ type: z.string() });
const result = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string().min(1),
  content: z.union([z.string(), z.array(z.union([text, other]))]).nullish(),
});
const use = z.object({
  type: z.literal('tool_use'),
  id: z.string().min(1),
  name: z.string().min(1),
  input: z.record(z.string(), z.unknown()),
});
const thinking = z.object({ type: z.literal('thinking'), thinking: z.string() });
const known = z.discriminatedUnion('type', [text, result, use, thinking]);
const KNOWN = ['text', 'tool_result', 'tool_use', 'thinking'];
const block = z.union([known, other.refine(({ type }) => !KNOWN.includes(type))]);

export const textOrBlocks = z.union([z.string(), z.array(block)]);

type Content = z.output<typeof textOrBlocks>;
type Known = z.output<typeof known>;

const isKnown = (given: z.output<typeof block>): given is Known => KNOWN.includes(given.type);

function blocksOf(content: Content): Known[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  // What was thought and may not be read says nothing.
  return content.filter(({ type }) => type !== 'redacted_thinking').map(readable);
}

function readable(given: z.output<typeof block>): Known {
  if (isKnown(given)) return given;
  throw unsupported('messages', `blocks of type "${given.type}" are not read; send text`);
}

/** The words of a content, with nothing between its blocks. */
export const textOf = (content: Content): string =>
  blocksOf(content)
    .map((one) => (one.type === 'text' ? one.text : ''))
    .join('');

export function readBlocks(
  { role, content }: { readonly role: 'user' | 'assistant' | 'system'; readonly content: Content },
  transcript: Transcript,
): void {
  const blocks = blocksOf(content);
  if (role === 'assistant') {
    transcript.say(turnOf(blocks));
    return;
  }
  const results = blocks.filter((one) => one.type === 'tool_result');
  for (const { tool_use_id: toolCallId, content: given } of results) {
    transcript.add({ role: 'tool', content: textOf(given ?? ''), toolCallId });
  }
  const words = textOf(blocks);
  if (words !== '' || results.length === 0) transcript.add({ role, content: words });
}

function turnOf(blocks: readonly Known[]): SaidTurn {
  return {
    content: textOf([...blocks]),
    reasoning: blocks.map((one) => (one.type === 'thinking' ? one.thinking : '')).join(''),
    calls: blocks.flatMap((one) =>
      one.type === 'tool_use' ? [{ id: one.id, name: one.name, arguments: one.input as JsonObject }] : [],
    ),
  };
}
