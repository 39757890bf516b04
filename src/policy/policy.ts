/** Things that complete a prompt: a trained model, a script, a person, a remote model. */

import type { Message } from '../core/messages.ts';
import type { Role, Session } from '../env/session.ts';

export interface SamplingOptions {
  /** 0 is greedy. */
  readonly temperature: number;
  /** Keep the smallest set of tokens whose probabilities sum to at least this; 1 keeps all. */
  readonly topP: number;
  /** Keep the k most probable tokens; 0 keeps all. */
  readonly topK: number;
  readonly maxTokens: number;
}

/** What a policy that reads a prompt is asked. */
export interface PromptRequest {
  /** Names the conversation (episode and role), so that a sampler can keep its cache. */
  readonly conversation: string;
  /** Names the randomness of this completion; the same key and prompt give the same sample. */
  readonly seedKey: string;
  /** The whole conversation so far, for policies that read text. */
  readonly messages: readonly Message[];
  /** The whole prompt as token ids, for policies that read ids. */
  readonly promptIds: readonly number[];
  readonly sampling: SamplingOptions;
  readonly signal: AbortSignal;
}

export interface CompletionRequest extends PromptRequest {
  readonly role: Role;
  /** The live episode, for scripted players only. A trained policy never looks. */
  readonly session: Session;
}

export interface Completion {
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
  readonly text: string;
  readonly finish: 'stop' | 'length' | 'none';
  /** Whether a trained policy sampled it. */
  readonly sampled: boolean;
}

export interface Policy {
  /** Version of the weights behind it. */
  readonly version: number;
  complete(request: CompletionRequest): Promise<Completion>;
  /** The conversation is over: its cache may go. */
  release?(conversation: string): void;
}

/** A policy that needs no more than the prompt: every trained one. */
export interface PromptPolicy extends Policy {
  complete(request: PromptRequest): Promise<Completion>;
}
