/**
 * The renderer of models with a chat template. The template says what every prompt is; this finds out where completions stand
 * in it, and puts the ids there that were sampled, so that none of them is encoded again.
 */

import type { Json, JsonObject } from '../../core/json/json.ts';
import { assistant, type Message } from '../../core/messages.ts';
import type { PretrainedTokenizer } from '../tokenizer/pretrained-tokenizer.ts';
import { type ChatTemplate, type TemplateMessage, templateMessage } from './chat-template.ts';
import {
  type Completion,
  idsOf,
  isCompletion,
  type Offered,
  type Piece,
  type Renderer,
  type Said,
  taggedText,
} from './renderer.ts';
import { settledText } from './settled-text.ts';
import { readReply } from './tool-call-reply.ts';
import { readMessage, splitReasoning, type ToolCallForm } from './tool-call-text.ts';

export interface ChatRendererParts {
  readonly tokenizer: PretrainedTokenizer;
  readonly template: ChatTemplate;
  /** Ids that end a turn by the checkpoint's own files; the template's own end of a turn is added. */
  readonly stopIds: readonly number[];
}

export interface ChatRendererOptions {
  readonly maxTurnTokens: number;
  /** Said first, where a conversation does not open with a system message of its own. */
  readonly system?: string;
  /** Tools for the template to describe. */
  readonly tools?: readonly JsonObject[];
  /** Further variables of the template, such as `enable_thinking`. */
  readonly variables?: Readonly<Record<string, Json>>;
  /** Give tool calls in the family's own form to action protocols as `<tool_call>` tags. */
  readonly translateToolCalls?: boolean;
}

export interface ChatRenderer extends Renderer {
  /** The message that sampled ids say: content, reasoning, tool calls. */
  message(ids: ArrayLike<number>): Message;
}

/**
 * Rendering by a template.
 *
 * Where the template renders a completion otherwise than it was sampled, the template wins: of an answer whose reasoning it
 * drops, the sampled ids of the rest are kept where the cut falls between two tokens; anything else is encoded as the
 * template writes it. The call's path is then a new one, `rewritten`.
 *
 * @throws TurnwiseError `chat-template-refused` where the template cannot render one question
 */
export function chatRenderer(parts: ChatRendererParts, options: ChatRendererOptions): ChatRenderer {
  const { tokenizer, template } = parts;
  const { system } = options;
  const known = learnTemplate(parts, options.variables);
  const { stopIds, toolCallForm } = known;

  const opening = (messages: readonly Message[]): TemplateMessage[] => {
    const rendered = messages.map((message) =>
      templateMessage(known.writesCalls ? message : withCallsInContent(message)),
    );
    if (system === undefined || system === '' || messages[0]?.role === 'system') return rendered;
    if (known.systemRole) return [{ role: 'system', content: system }, ...rendered];
    const [first, ...rest] = rendered;
    return [{ ...first, role: 'user', content: `${system}\n\n${first?.content ?? ''}` }, ...rest];
  };
  const renderWith =
    ({ tools: declared, variables: own }: Offered) =>
    (messages: readonly Message[]): string => {
      const tools = declared ? declared.map(functionDeclaration) : options.tools;
      const variables = own ? { ...options.variables, ...own } : options.variables;
      return template.render(opening(messages), {
        addGenerationPrompt: true,
        ...(tools === undefined ? {} : { tools }),
        ...(variables === undefined ? {} : { variables }),
      });
    };
  const endsTurn = ({ ids }: Completion): boolean => ids.length > 0 && stopIds.includes(ids[ids.length - 1]!);
  const stopText = (completion: Completion): string =>
    endsTurn(completion) ? tokenizer.decode([completion.ids[completion.ids.length - 1]!]) : '';
  const textOf = (piece: Piece): string => {
    if (typeof piece === 'string') return piece;
    if ('content' in piece) return piece.content;
    return isCompletion(piece) ? piece.text + stopText(piece) : tokenizer.decode(Array.from(idsOf(piece)));
  };
  const text = (sampled: ArrayLike<number>): string => {
    const ids = Array.from(sampled);
    return tokenizer.decode(stopIds.includes(ids.at(-1) ?? -1) ? ids.slice(0, -1) : ids);
  };
  /** The tokens of a completion that say `wanted`, its end; undefined where the cut does not fall between two of them. */
  const tailOf = (completion: Completion, wanted: string): Piece | undefined => {
    if (wanted === '' || !completion.text.endsWith(wanted)) return undefined;
    const ids = Array.from(completion.ids);
    const to = endsTurn(completion) ? ids.length - 1 : ids.length;
    for (let from = to - 1; from >= 0; from--) {
      const said = tokenizer.decode(ids.slice(from, to));
      if (said === wanted) return { of: completion, from, to };
      if (said.length > wanted.length) return undefined;
    }
    return undefined;
  };

  return {
    stopIds,
    maxTurnTokens: options.maxTurnTokens,
    declares: true,
    pieces: (said, offered = {}, seen) => {
      const render = renderWith(offered);
      const whole = render(said.map((one) => (isCompletion(one) ? assistant(one.text) : one)));
      const before = seen?.map(textOf).join('');
      if (before && seen && whole.startsWith(before)) return [...seen, whole.slice(before.length)];
      if (!said.some(isCompletion)) return [whole];
      return spliced(whole, said, render, stopText, tailOf);
    },
    ids: (piece) => {
      if (typeof piece === 'string') return tokenizer.encode(piece);
      return 'content' in piece ? tokenizer.encode(piece.content) : idsOf(piece);
    },
    completionIds: (written) => [...tokenizer.encode(written), known.endId],
    text,
    answer: (written) => {
      const { rest } = splitReasoning(written);
      if (!options.translateToolCalls) return rest;
      const { toolCalls } = readMessage(written, toolCallForm);
      if (toolCalls === undefined) return rest;
      return toolCalls
        .map(
          ({ name, arguments: input }) =>
            `<tool_call>${JSON.stringify({ name, arguments: input })}</tool_call>`,
        )
        .join('\n');
    },
    message: (ids) => readMessage(text(ids), toolCallForm),
    read: (written, tools) => readReply(written, tools, toolCallForm),
    settled: (begun, readsCalls) => settledText(begun, readsCalls ? toolCallForm : undefined),
    tokenTexts: () => tokenizer.texts(),
    written: (message) => {
      const { content, reasoning, toolCalls = [] } = message;
      if (reasoning === undefined && toolCalls.length === 0) return content;
      const byTemplate =
        toolCalls.length === 0 || known.writesCalls
          ? writtenByTemplate(parts, message, tokenizer.decode([known.endId]), options.variables)
          : undefined;
      return byTemplate ?? taggedText(message);
    },
  };
}

/** For templates that know no calls; a thought stays where it is, since they may know thoughts. */
function withCallsInContent({ toolCalls = [], ...message }: Message): Message {
  if (toolCalls.length === 0) return message;
  const { reasoning: _, ...said } = message;
  return { ...message, content: taggedText({ ...said, toolCalls }) };
}

/**
 * What the template writes after its own beginning of an answer; undefined where it begins answers otherwise, or leaves out a
 * thought or a call.
 */
function writtenByTemplate(
  { template }: ChatRendererParts,
  message: Message,
  end: string,
  variables: Readonly<Record<string, Json>> = {},
): string | undefined {
  const question = { role: 'user', content: 'Question' };
  try {
    const prompt = template.render([question], { addGenerationPrompt: true, variables });
    const whole = template.render([question, templateMessage(message)], {
      addGenerationPrompt: false,
      variables,
    });
    const at = whole.lastIndexOf(end);
    const written =
      whole.startsWith(prompt) && at >= prompt.length ? whole.slice(prompt.length, at) : undefined;
    const { reasoning = '', toolCalls = [] } = message;
    const said = [reasoning.trim(), ...toolCalls.map(({ name }) => name)];
    return said.every((part) => written?.includes(part)) ? written : undefined;
  } catch {
    // A family without calls.
    return undefined;
  }
}

const functionDeclaration = (tool: object): JsonObject => ({
  type: 'function',
  function: tool as JsonObject,
});

/**
 * What the template wrote, with the completions in it: the text between them is known from rendering the same conversation
 * with a word in place of each. From where the two differ otherwise, all is text.
 */
function spliced(
  whole: string,
  said: readonly Said[],
  render: (messages: readonly Message[]) => string,
  stopText: (completion: Completion) => string,
  tailOf: (completion: Completion, wanted: string) => Piece | undefined,
): Piece[] {
  const probe = (index: number): string => `${PROBE}${index}x`;
  const probed = render(said.map((one, index) => (isCompletion(one) ? assistant(probe(index)) : one)));
  const pieces: Piece[] = [];
  let text = '';
  let at = 0;
  let left = probed;
  /** The text before the next completion, as far as both agree. */
  const take = (words: string): void => {
    text += words;
    at += words.length;
  };
  for (const [index, one] of said.entries()) {
    if (!isCompletion(one)) continue;
    const place = left.indexOf(probe(index));
    const between = left.slice(0, Math.max(0, place));
    if (place < 0 || !whole.startsWith(between, at)) break;
    take(between);
    left = left.slice(place + probe(index).length);
    const next = said.findIndex((other, later) => later > index && isCompletion(other));
    const end = next < 0 ? left.length : left.indexOf(probe(next));
    const after = end < 0 ? left : left.slice(0, end);
    const exact = whole.startsWith(one.text + after, at);
    const to = exact ? at + one.text.length : whole.indexOf(after, at);
    if (to < 0) break;
    const stop = stopText(one);
    const written = whole.slice(at, to);
    const opaque = exact && after.startsWith(stop);
    const piece = opaque ? one : tailOf(one, written);
    if (piece === undefined) {
      take(written);
      continue;
    }
    if (text !== '') pieces.push(text);
    pieces.push(piece);
    text = '';
    at = to;
    if (!opaque) continue;
    at += stop.length;
    left = left.slice(stop.length);
  }
  return [...pieces, text + whole.slice(at)];
}

interface KnownTemplate {
  readonly stopIds: readonly number[];
  /** The token that the template closes an answer with. */
  readonly endId: number;
  /** Whether system messages are rendered at all. */
  readonly systemRole: boolean;
  readonly toolCallForm: ToolCallForm;
  /** Whether calls that stand in a conversation are rendered at all. */
  readonly writesCalls: boolean;
}

/** A word that no template would change or write itself. */
const PROBE = 'turnwiseprobe';

/** What the template does, found out by rendering. */
function learnTemplate(
  { tokenizer, template, stopIds }: ChatRendererParts,
  variables: Readonly<Record<string, Json>> = {},
): KnownTemplate {
  const question = { role: 'user', content: 'Question' };
  const tail = (answer: TemplateMessage): string => {
    const written = template.render([question, answer], { addGenerationPrompt: false, variables });
    return written.slice(written.lastIndexOf('Question') + 'Question'.length);
  };
  const attempt = (render: () => string): string => {
    try {
      return render();
    } catch {
      return '';
    }
  };

  const afterAnswer = tail({ role: 'assistant', content: PROBE }).split(PROBE)[1] ?? '';
  const [closing] = tokenizer.encode(afterAnswer.trimStart());
  const closes = closing !== undefined && tokenizer.isAdded(closing);
  const allStopIds = closes && !stopIds.includes(closing) ? [...stopIds, closing] : stopIds;

  const withSystem = attempt(() =>
    template.render([{ role: 'system', content: PROBE }, question], { addGenerationPrompt: true, variables }),
  );
  const call = { type: 'function', id: 'call_0', function: { name: PROBE, arguments: {} } };
  const withCall = attempt(() => tail({ role: 'assistant', content: '', tool_calls: [call] }));
  const bare = withCall.includes(PROBE) && !withCall.includes('<tool_call>') && /"parameters"/.test(withCall);
  return {
    stopIds: allStopIds,
    endId: closes ? closing : allStopIds[0]!,
    systemRole: withSystem.includes(PROBE),
    toolCallForm: bare ? 'bare' : 'tags',
    writesCalls: withCall.includes(PROBE),
  };
}
