/**
 * The renderer of models with a chat template. The template says what every prompt is; this finds out whether that prompt
 * still begins with what the policy saw and sampled, and then appends only the rest, so that no sampled id is encoded again.
 */

import type { Json, JsonObject } from '../../core/json/json.ts';
import type { Message } from '../../core/messages.ts';
import type { PretrainedTokenizer } from '../tokenizer/pretrained-tokenizer.ts';
import { type ChatTemplate, type TemplateMessage, templateMessage } from './chat-template.ts';
import type { History, Prompt, Renderer } from './renderer.ts';
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
  /** The message that a completion's text says. */
  read(text: string): Message;
}

/**
 * Rendering by a template.
 *
 * Where the template renders the history otherwise than the policy saw it (it drops earlier reasoning, trims answers, closes
 * a turn with another token than was sampled), the prompt does not extend the previous one: it is encoded whole, and
 * `extendsPrevious` is false.
 *
 * @throws TurnwiseError `chat-template-refused` where the template cannot render one question
 */
export function chatRenderer(parts: ChatRendererParts, options: ChatRendererOptions): ChatRenderer {
  const { tokenizer, template } = parts;
  const { system, tools, variables } = options;
  const known = learnTemplate(parts, variables);
  const { stopIds, toolCallForm } = known;

  const opening = (messages: readonly Message[]): TemplateMessage[] => {
    const rendered = messages.map(templateMessage);
    if (system === undefined || system === '' || messages[0]?.role === 'system') return rendered;
    if (known.systemRole) return [{ role: 'system', content: system }, ...rendered];
    const [first, ...rest] = rendered;
    return [{ ...first, role: 'user', content: `${system}\n\n${first?.content ?? ''}` }, ...rest];
  };
  const render = (messages: readonly Message[]): string =>
    template.render(opening(messages), {
      addGenerationPrompt: true,
      ...(tools === undefined ? {} : { tools }),
      ...(variables === undefined ? {} : { variables }),
    });
  const stopsAt = (ids: readonly number[]): number | undefined => {
    const last = ids.at(-1);
    return last !== undefined && stopIds.includes(last) ? last : undefined;
  };
  /** The text of everything that the policy saw and wrote so far. */
  const textSoFar = ({ ids, messages, promptText }: History): string | undefined => {
    if (promptText === undefined) return undefined;
    const stop = stopsAt(ids);
    return (
      promptText + (messages.at(-1)?.content ?? '') + (stop === undefined ? '' : tokenizer.decode([stop]))
    );
  };
  const text = (sampled: ArrayLike<number>): string => {
    const ids = Array.from(sampled);
    return tokenizer.decode(stopsAt(ids) === undefined ? ids : ids.slice(0, -1));
  };

  return {
    stopIds,
    maxTurnTokens: options.maxTurnTokens,
    prompt: (history, fresh): Prompt => {
      const whole = render([...history.messages, ...fresh]);
      const before = textSoFar(history);
      if (before !== undefined && whole.startsWith(before)) {
        const contextIds = tokenizer.encode(whole.slice(before.length));
        return {
          promptIds: [...history.ids, ...contextIds],
          contextIds,
          extendsPrevious: true,
          text: whole,
        };
      }
      const promptIds = tokenizer.encode(whole);
      return { promptIds, contextIds: promptIds, extendsPrevious: false, text: whole };
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
    read: (written) => readMessage(written, toolCallForm),
  };
}

interface KnownTemplate {
  readonly stopIds: readonly number[];
  /** The token that the template closes an answer with. */
  readonly endId: number;
  /** Whether system messages are rendered at all. */
  readonly systemRole: boolean;
  readonly toolCallForm: ToolCallForm;
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
  };
}
