/**
 * A line of a dataset file: a conversation, or two ways in which one may go on. Messages and tools are in OpenAI's shape, so that
 * other libraries read the file as it is. This is what is written; `read-rows.ts` reads more.
 */

import type { Json, JsonObject } from '../core/json/json.ts';
import type { Message, ToolDeclaration } from '../core/messages.ts';

/** A message of a row. */
export interface RowMessage extends Message {
  /** On assistant messages: 0 is shown and not learned. Absent: 1. */
  readonly weight?: 0 | 1;
  /** On assistant messages: what it earned by itself. */
  readonly reward?: number;
}

/** Where a row comes from. */
export interface RowSource {
  readonly kind: 'eval' | 'gateway' | 'run' | 'annotation' | 'file';
  /** Who wrote the answers: `gpt@api.openai.com`, a player, a teacher. */
  readonly by?: string;
  readonly run?: string;
  /** Of another dataset: what it said of its source. */
  readonly name?: string;
  readonly environment?: string;
  readonly split?: string;
  /** How it was measured: `sampled`, `greedy`, `as asked`. */
  readonly label?: string;
  /** The episode; rows of one episode are its conversations, those of each role. */
  readonly episode?: {
    readonly step: number;
    readonly task: number | string;
    readonly group: number;
    readonly member: number;
  };
  readonly role?: string;
  /** Of an episode of several rows: the place in it of each answer, in the order of the assistant messages. */
  readonly turns?: readonly number[];
  /** Of pairs that were made of two conversations: names these two, of which pairs of how they begin are, too. */
  readonly pair?: string;
  /** Why the episode ended. Those that failed are never learned from. */
  readonly stop?: string;
}

/** Token ids of a row as they were sampled. */
export interface RowTokens {
  /** Hash of the `tokenizer.json` that gives them their meaning; without it they are kept and not used. */
  readonly tokenizer?: string;
  /** The whole row: prompts, answers, and what was shown in between. */
  readonly ids: Int32Array;
  /** From where to where each answer was sampled, in the order of the assistant messages. */
  readonly sampled: readonly (readonly [from: number, to: number])[];
  /** Log-probabilities of the sampled ids, one answer after another. */
  readonly logprobs: Float32Array;
  /** What a teacher would have written in the place of each sampled id. */
  readonly top?: RowTop;
}

/** A teacher's likeliest tokens in the place of each sampled id. */
export interface RowTop {
  /** Who says so. */
  readonly by?: string;
  /** How many for each id. */
  readonly k: number;
  /** k for each sampled id, one after another. */
  readonly ids: Int32Array;
  readonly logprobs: Float32Array;
}

interface RowParts {
  readonly v: 1;
  readonly messages: readonly RowMessage[];
  readonly tools?: readonly ToolDeclaration[];
  readonly task?: Json;
  readonly source: RowSource;
}

/** A conversation. */
export interface ConversationRow extends RowParts {
  /** What the whole episode earned. */
  readonly reward?: number;
  readonly success?: boolean;
  readonly tokens?: RowTokens;
}

/** Two ways in which a conversation may go on, the better one first. */
export interface PreferenceRow extends RowParts {
  readonly chosen: readonly RowMessage[];
  readonly rejected: readonly RowMessage[];
}

export type Row = ConversationRow | PreferenceRow;

export const isPreference = (row: Row): row is PreferenceRow => 'chosen' in row;

/** All messages of a row; of a pair, those before it and of both ways. */
export function messagesOf(row: Row): readonly RowMessage[] {
  return isPreference(row) ? [...row.messages, ...row.chosen, ...row.rejected] : row.messages;
}

/** Whether a message is learned. */
export const isLearned = ({ role, weight = 1 }: RowMessage): boolean => role === 'assistant' && weight > 0;

/** The line of a row, as JSON writes it. */
export function rowJson(row: Row): JsonObject {
  const { messages, tools, task, source } = row;
  const rest: object = isPreference(row)
    ? { chosen: row.chosen.map(messageJson), rejected: row.rejected.map(messageJson) }
    : {
        ...(row.reward !== undefined && { reward: row.reward }),
        ...(row.success !== undefined && { success: row.success }),
      };
  return {
    v: 1,
    messages: messages.map(messageJson),
    ...rest,
    ...(tools && tools.length > 0 && { tools: tools.map(toolJson) }),
    ...(task !== undefined && { task }),
    source: source as unknown as JsonObject,
  };
}

/** A message in OpenAI's shape. */
function messageJson(message: RowMessage): JsonObject {
  const { role, content, reasoning, toolCalls = [], toolCallId, weight, reward } = message;
  return {
    role,
    content,
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(toolCalls.length > 0 && {
      tool_calls: toolCalls.map(({ id, name, arguments: given }) => ({
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(given) },
      })),
    }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
    ...(weight === 0 && { weight }),
    ...(reward !== undefined && { reward }),
  };
}

function toolJson({ name, description, parameters }: ToolDeclaration): JsonObject {
  return { type: 'function', function: { name, description, parameters } };
}
