/** Chat templates: messages to the text that a model was trained to read. The template of the checkpoint is the authority. */

import type { Template } from '@huggingface/jinja';
import { TurnwiseError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json/json.ts';
import type { Message } from '../../core/messages.ts';
import { renderWithin } from './limited-template.ts';
import { parseTemplate, TemplateRefusal, templateFunctions } from './template-corrections.ts';

/** A message as templates know it: `role`, `content`, `tool_calls`, `reasoning_content`, and whatever else they read. */
export type TemplateMessage = JsonObject;

export interface TemplateOptions {
  /** Function declarations with JSON Schema, as `describeTools` makes them. */
  readonly tools?: readonly JsonObject[];
  /** Write the beginning of the answer that is asked for. */
  readonly addGenerationPrompt: boolean;
  /** Further variables of the template, such as `enable_thinking`. */
  readonly variables?: Readonly<Record<string, Json>>;
}

export class ChatTemplate {
  readonly #template: Template;
  readonly #file: string;
  readonly #variables: Readonly<Record<string, string>>;

  /**
   * @param file where it was read from, for messages
   * @param variables what every rendering sees: `bos_token`, `eos_token` and the other special tokens
   * @throws TurnwiseError `chat-template-invalid`
   */
  constructor(source: string, file: string, variables: Readonly<Record<string, string>>) {
    this.#file = file;
    this.#variables = variables;
    try {
      this.#template = parseTemplate(source);
    } catch (cause) {
      throw invalid(file, 'read', cause);
    }
  }

  /**
   * @throws TurnwiseError `chat-template-refused` with what the template says is wrong with the messages, and
   * `chat-template-invalid` where it cannot be evaluated
   */
  render(messages: readonly TemplateMessage[], options: TemplateOptions): string {
    try {
      return renderWithin(this.#template.parsed, {
        ...templateFunctions,
        ...this.#variables,
        ...options.variables,
        messages,
        ...(options.tools && options.tools.length > 0 ? { tools: options.tools } : {}),
        add_generation_prompt: options.addGenerationPrompt,
      });
    } catch (cause) {
      if (!(cause instanceof TemplateRefusal)) throw invalid(this.#file, 'evaluated', cause);
      throw new TurnwiseError('chat-template-refused', {
        what: `The chat template of ${this.#file} refuses these messages: ${messageOf(cause)}`,
        seen: messages.map(({ role }) => String(role)).join(', '),
        next: 'Change the messages of the environment, or put another template into chat_template.jinja',
        fields: { file: this.#file },
        cause,
      });
    }
  }
}

/** Our messages in the words of templates. */
export function templateMessage(message: Message): TemplateMessage {
  const { role, content, reasoning, toolCalls, toolCallId } = message;
  return {
    role,
    content,
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(toolCalls === undefined || toolCalls.length === 0
      ? {}
      : {
          tool_calls: toolCalls.map(({ id, name, arguments: input }) => ({
            id,
            type: 'function',
            function: { name, arguments: input },
          })),
        }),
    ...(toolCallId === undefined ? {} : { tool_call_id: toolCallId }),
  };
}

function invalid(file: string, done: 'read' | 'evaluated', cause: unknown): TurnwiseError {
  return new TurnwiseError('chat-template-invalid', {
    what: `The chat template of ${file} cannot be ${done}`,
    seen: messageOf(cause),
    next: 'Put another template into chat_template.jinja of the checkpoint folder',
    fields: { file },
    cause,
  });
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
