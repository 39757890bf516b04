/** Things that complete a prompt: a trained model, a script, a person, a remote model. */

import type { Constraint } from '../core/constraint.ts';
import type { Author, Call, EpisodeKey, Finish, Role, Sampling, Untrainable } from '../core/episode.ts';
import type { Json } from '../core/json/json.ts';
import type { Message } from '../core/messages.ts';
import type { Session } from '../env/session.ts';
import type { TokenProbability } from './sampler.ts';

/** What a policy that reads a prompt is asked. */
export interface PromptRequest {
  /** Names the conversation (episode and role), so that a sampler can keep its cache. */
  readonly conversation: string;
  /** Names the randomness of this completion; the same key and prompt give the same sample. */
  readonly seedKey: string;
  /** The whole conversation so far, for policies that read text. */
  readonly messages: readonly Message[];
  /** Tokens of the conversation (its last prompt and completion) that the prompt begins with; 0 begins anew. */
  readonly keep: number;
  /** The tokens of the prompt after them. */
  readonly append: Int32Array;
  readonly sampling: Sampling;
  /** Texts to one of which the completion is restricted, by policies that can. */
  readonly choices?: readonly string[];
  /** The forms to which the completion is held, by policies that can. It is then not trained on. */
  readonly constraint?: Constraint;
  /** Hears each id as soon as it is sampled, from policies that can tell. False: the completion ends here, or soon after. */
  readonly heard?: (id: number) => boolean;
  /** How many of the likeliest tokens to tell at each place, where the policy can. */
  readonly topLogprobs?: number;
  readonly signal: AbortSignal;
}

export interface CompletionRequest extends PromptRequest {
  readonly key: EpisodeKey;
  readonly role: Role;
  readonly task: Json;
  /** The live episode, for scripted players only. A trained policy never looks. */
  readonly session: Session;
  /**
   * What a scripted player writes where no act is asked for, or in place of one; undefined where nobody knows.
   *
   * @param planned the act that its own script comes to, where `plans`
   */
  readonly script?: (planned?: string) => string | undefined;
  /** Whether `script` wants to know it. */
  readonly plans?: boolean;
}

export interface Completion {
  readonly ids: Int32Array;
  readonly logprobs: Float32Array;
  /** Of the distributions of `logprobs`, summed over the completion, in nats, where the policy can tell. */
  readonly entropy?: number;
  readonly text: string;
  readonly finish: Finish;
  /** The token sequences to which it was restricted. */
  readonly choices?: Call['choices'];
  readonly by: Author;
  readonly trainable: true | Untrainable;
  /** Milliseconds that it waited for others before anything was computed. */
  readonly waitMs?: number;
  /** The likeliest tokens at each place, most probable first, where they were asked for. */
  readonly top?: readonly (readonly TokenProbability[])[];
}

export interface Policy {
  /** Who completes, with which weights. */
  readonly author: Author;
  /** Who completes for a role, where roles have players of their own. */
  authorOf?(role: Role): Author;
  complete(request: CompletionRequest): Promise<Completion>;
  /** The conversation is over: its cache may go. */
  release?(conversation: string): void;
}

/** Who completes for `role`. */
export function authorOf(policy: Pick<Policy, 'author' | 'authorOf'>, role: Role): Author {
  return policy.authorOf?.(role) ?? policy.author;
}

/** A policy that needs no more than the prompt: every trained one. */
export interface PromptPolicy extends Policy {
  complete(request: PromptRequest): Promise<Completion>;
}
