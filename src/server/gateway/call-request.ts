/** What a client asked for, in whatever dialect: the inner form of a call. */

import type { Sampling } from '../../core/episode.ts';
import type { JsonObject } from '../../core/json/json.ts';
import type { Message, ToolDeclaration } from '../../core/messages.ts';
import type { TemplateVariables } from '../../model/chat/conversation.ts';

export { readChatCall } from './dialects/chat-completions.ts';

export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

export type ResponseFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | { readonly type: 'json_schema'; readonly schema: JsonObject };

/** What both kinds of calls have in common. */
interface CallBase {
  readonly model: string;
  /** What the client declares the call to be for. */
  readonly purpose?: string;
  /** Completions wanted (n). */
  readonly choices: number;
  readonly stop: readonly string[];
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly topK: number | undefined;
  readonly maxTokens: number | undefined;
  readonly seed: number | undefined;
  readonly logprobs: boolean;
  /** How many of the likeliest tokens to tell at each place. */
  readonly topLogprobs: number;
}

export interface ChatCall extends CallBase {
  readonly kind: 'chat';
  readonly messages: readonly Message[];
  /** Which answer an assistant message is, by its index: what the ids end in that came with it. */
  readonly refs: ReadonlyMap<number, string>;
  readonly tools: readonly ToolDeclaration[];
  readonly toolChoice: ToolChoice;
  /** Names of the tools that may be called, where that is not all of them. */
  readonly callable?: readonly string[];
  /** Names of the tools whose calls are to be held to their schemas. */
  readonly strictTools: readonly string[];
  readonly parallelToolCalls: boolean;
  /** What ids of tool calls begin with. */
  readonly callIdPrefix: 'call' | 'toolu';
  readonly responseFormat: ResponseFormat;
  /** For the chat template, where the model has one. */
  readonly templateVariables?: TemplateVariables;
}

export interface TextCall extends CallBase {
  readonly kind: 'text';
  readonly prompt: string | readonly number[];
}

export type CallRequest = ChatCall | TextCall;

/** A chat of which nothing is known but what it says. */
export const UNSAMPLED = {
  kind: 'chat',
  choices: 1,
  stop: [],
  strictTools: [],
  temperature: undefined,
  topP: undefined,
  topK: undefined,
  maxTokens: undefined,
  seed: undefined,
  logprobs: false,
  topLogprobs: 0,
} as const;

/** As it was asked for, with the API's defaults. */
export function requestedSampling({ temperature, topP, topK, maxTokens }: CallRequest): Sampling {
  return {
    temperature: temperature ?? 1,
    topP: topP ?? 1,
    topK: topK ?? 0,
    maxTokens: maxTokens ?? Number.POSITIVE_INFINITY,
  };
}
