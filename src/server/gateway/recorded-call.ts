/** What the gateway keeps of one completion: exactly what the policy saw and sampled. */

import type { Json } from '../../core/json.ts';
import type { Message } from '../../core/messages.ts';
import type { Reply } from '../../model/conversation.ts';

/** Why a completion cannot be trained on. */
export type Untrainable =
  /** The client changed what the policy had said, or put words into its mouth. */
  | 'edited-history'
  /** Another model than the policy answered. */
  | 'foreign-model'
  /** The server behind the gateway gave no token ids, or no log-probabilities. */
  | 'no-token-ids'
  /** A scripted teacher answered: imitation learns from it, policy gradients do not. */
  | 'scripted';

export interface RecordedCall {
  /** Unique in the session. */
  readonly id: string;
  readonly kind: 'chat' | 'text';
  /** Names the conversation: equal for calls that extend one another. */
  readonly conversation: string;
  /** The call whose prompt and completion this prompt begins with, token for token. */
  readonly previous?: string;
  readonly model: string;
  readonly policyVersion: number;
  /** Everything that the client sent, and what of it came after the previous completion. */
  readonly messages: readonly Message[];
  readonly fresh: readonly Message[];
  /** Names of the tools that were offered. */
  readonly tools: readonly string[];
  /** Hash of everything that the policy was told so far: equal for equal states. */
  readonly anchor: string;
  /** The prompt as it was rendered, and the sampled ids with their log-probabilities. Empty where there are none. */
  readonly promptIds: readonly number[];
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
  readonly text: string;
  readonly reply: Reply;
  readonly finish: 'stop' | 'length';
  readonly temperature: number | undefined;
  /** Whether the form could be read, and fits the `response_format` that was asked for. */
  readonly valid: boolean;
  readonly untrainable?: Untrainable;
  readonly policyMs: number;
  /** Since the previous answer of the session. */
  readonly environmentMs: number;
}

/** A session after its end, or as it stands. */
export interface SessionRecord {
  readonly id: string;
  readonly status: 'open' | 'closed' | 'expired';
  readonly task?: Json;
  readonly reward?: number;
  readonly success?: boolean;
  readonly info?: Json;
  readonly calls: readonly RecordedCall[];
  /** Ids of calls, in order, for each sequence of calls that extend one another. */
  readonly trajectories: readonly (readonly string[])[];
  readonly untrainable: Readonly<Partial<Record<Untrainable, number>>>;
}
