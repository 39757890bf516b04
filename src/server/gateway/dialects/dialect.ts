/**
 * A dialect is how a vendor's API words what the gateway means: it reads a body into the inner form of a call, and writes an
 * answer whole, as the events of a stream, or as an error. It never sees tokens.
 */

import type { ToolCall } from '../../../core/messages.ts';
import type { ApiErrorParts } from '../api-error.ts';
import type { AnsweredChoice } from '../call-recorder.ts';
import type { CallRequest } from '../call-request.ts';
import type { Coming } from './coming.ts';

/** An answered call. */
export interface Answer {
  readonly choices: readonly AnsweredChoice[];
  /** Seconds since 1970. */
  readonly created: number;
}

/** An event of a stream; text is sent as it is. */
export interface StreamEvent {
  readonly event?: string;
  readonly data: object | string;
}

/** One request, and how its answer is to be worded. */
export interface Exchange {
  readonly call: CallRequest;
  readonly stream: boolean;
  whole(answer: Answer): object;
  /** The events of a stream, which begins with the first words of the answer. */
  events(coming: Coming): AsyncIterable<StreamEvent>;
  /** Later requests may name its answer: as a response, or as the latest of a thread. */
  readonly keeps?: 'response' | 'thread';
  /** Its first message is none of its history, so that what goes on from its answer leaves it out. */
  readonly instructed?: boolean;
  /** It has been answered, or it failed. */
  settled?(answered: boolean): void;
}

/** An exchange that later requests may name. */
export interface Kept {
  readonly exchange: Exchange;
  readonly answer: Answer;
  /** Whether a thread went on from here, which it does once. */
  continued: 'not' | 'in-flight' | 'continued';
}

/** What reading a body depends on. */
export interface Reading {
  /** Sampling is up to the run: parameters that cannot be honoured are set aside in place of being refused. */
  readonly lenient: boolean;
  /** An exchange of this session, by what ids of its answer end in. */
  kept(ref: string): Kept | undefined;
  /** A tool call of this session. */
  called(id: string): ToolCall | undefined;
  /** A parameter changes nothing here. */
  ignore(key: string): void;
}

/** Where nothing was said before, and nothing is set aside. */
export const FIRST_READING: Reading = {
  lenient: false,
  kept: () => undefined,
  called: () => undefined,
  ignore: () => {},
};

/** A prompt that is counted and not answered. */
export interface CountedPrompt {
  readonly call: CallRequest;
  told(tokens: number): object;
}

export interface Dialect {
  /** @throws ApiError */
  read(body: unknown, reading: Reading): Exchange;
  /** The body of an error. */
  error(error: ApiErrorParts): object;
  /** An error in a stream that has begun. */
  errorEvent(error: ApiErrorParts): StreamEvent;
}

/** The end of an id that the gateway gave out, which leads to its call: `msg_ab_3` to `ab_3`. */
export const refOf = (id: string): string => id.slice(id.search(/[_-]/) + 1);

/** What the gateway tells of an answer, in every dialect. */
export function toldOf({ call: { by, problem, trainable, newPath } }: AnsweredChoice): object {
  return {
    policy_version: by.version,
    valid: problem === undefined,
    ...(newPath !== undefined && { new_path: newPath }),
    ...(trainable !== true && { untrainable: trainable }),
  };
}
