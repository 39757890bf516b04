/** What a session is opened with, what speaks between its calls, and what is said of it at its end. */

import type { Call, Role } from '../../../core/episode.ts';
import type { Json } from '../../../core/json/json.ts';
import type { Message } from '../../../core/messages.ts';
import type { StopReason } from '../../../core/stop.ts';
import type { StepMetrics } from '../../../env/scores/metrics.ts';
import type { ChatModel } from '../chat-model.ts';
import type { ChatOptions } from '../context/chat-turns.ts';
import type { SessionRecord } from './session-record.ts';

export interface SessionOptions extends ChatOptions {
  /** Other models, by the names that clients may ask for. */
  readonly foreign?: readonly ChatModel[];
  readonly control?: SessionControl;
  /** Told of each call when it is answered; the client gets the answer when it has been told. */
  readonly onCall?: (call: Call) => Promise<void>;
}

/** Speaks between the calls of a session. */
export interface SessionControl {
  /** Why no further call is answered. */
  readonly stopped: StopReason | undefined;
  /** A call has come. @throws ApiError where it is not answered */
  admit(soFar: () => SessionRecord): void;
  /** Messages that the next act reads after its own; each is given once. */
  take(): readonly Message[];
  /** The act that took them came to nothing. */
  giveBack(said: readonly Message[]): void;
}

export interface SessionEnd {
  readonly reward?: number;
  /** What single roles earned besides. */
  readonly rewards?: Readonly<Record<Role, number>>;
  readonly success?: boolean;
  readonly metrics?: StepMetrics;
  readonly info?: Json;
}
