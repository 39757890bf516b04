/** What the server answers about groups and episodes. Numbers that JSON has no word for are null. */

import type {
  Episode,
  EpisodeKey,
  Finish,
  NewPath,
  Sampling,
  StepCredit,
  Untrainable,
} from '../core/episode.ts';
import type { Json } from '../core/json/json.ts';
import type { EpisodeLabel } from '../store/rollouts/episode-line.ts';

export interface TurnOutline {
  /** Equal ones are the same situation: the anchor of the environment, or the hash of the prompt. */
  readonly situation: string;
  readonly action: string;
  readonly valid: boolean;
  readonly reward: number | null;
  readonly advantage: number | null;
  /** Mean −log-probability of the sampled tokens. */
  readonly surprise: number | null;
  readonly tokens: number;
  /** Log-probability of the whole action. */
  readonly logprob: number | null;
}

export type SegmentKind = 'wait' | 'complete' | 'environment';

export interface Segment {
  readonly kind: SegmentKind;
  /** Milliseconds since the episode's start. */
  readonly from: number;
  readonly to: number;
  readonly call?: number;
}

export interface MemberOutline {
  readonly member: number;
  readonly key: EpisodeKey;
  readonly role: string;
  readonly success: boolean;
  readonly return: number | null;
  readonly stop: string;
  readonly seconds: number;
  readonly turns: readonly TurnOutline[];
  readonly segments: readonly Segment[];
}

export interface GroupOutline {
  readonly place: string;
  readonly step: number;
  readonly group: number;
  readonly label: EpisodeLabel;
  readonly task: Json;
  readonly roles: readonly string[];
  /** One for each member and role. */
  readonly members: readonly MemberOutline[];
}

/** Text of a message, or its beginning where it is long. */
export interface CutText {
  readonly text: string;
  /** Characters of all of it, where it is cut. */
  readonly whole?: number;
}

export interface ShownMessage {
  readonly role: string;
  readonly content: CutText;
  readonly reasoning?: CutText;
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: string }[];
}

export interface ShownCall {
  readonly id: number;
  readonly parent?: number;
  readonly under?: number;
  readonly conversation: string;
  readonly role: string;
  readonly by: string;
  readonly version: number;
  readonly purpose: string;
  readonly newPath?: NewPath;
  readonly sampling: Readonly<Record<keyof Sampling, number | null>>;
  readonly messages: readonly ShownMessage[];
  /** Text of each token; what is between two of them is in `joint`. Absent where nobody knows the words. */
  readonly pieces?: readonly string[];
  /** Of the tokens sent; `tokens` are all of them. */
  readonly ids: readonly number[];
  readonly logprobs: readonly (number | null)[];
  readonly entropies?: readonly (number | null)[];
  /** Nats a token that was chosen; null where nobody knows. */
  readonly surprise: number | null;
  /** Of the distributions that they were chosen from, in nats a chosen token; null where nobody told. */
  readonly entropy: number | null;
  readonly tokens: number;
  readonly context: number;
  readonly text: CutText;
  readonly reasoning?: CutText;
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: string }[];
  readonly problem?: string;
  /** Completions among which it was chosen, where they were listed. */
  readonly choices?: number;
  readonly finish: Finish;
  readonly trainable: true | Untrainable;
  readonly at: number;
  readonly waitMs: number;
  readonly policyMs: number;
}

export interface ShownTurn {
  readonly role: string;
  /** Of the calls that led to it. */
  readonly calls: readonly number[];
  readonly action?: string;
  readonly valid: boolean;
  readonly anchor?: string;
  readonly reward: number | null;
  readonly advantage: number | null;
  /** One for each sampled token that is trained on, where the method told them apart. */
  readonly advantages?: readonly number[];
  readonly environmentMs: number;
  readonly at: number;
}

export interface ShownEpisode {
  readonly place: string;
  readonly key: EpisodeKey;
  readonly label: EpisodeLabel;
  readonly task: CutText;
  /** Between the pieces of two tokens. */
  readonly joint: string;
  readonly calls: readonly ShownCall[];
  readonly turns: readonly ShownTurn[];
  readonly closing: Readonly<Record<string, readonly ShownMessage[]>>;
  readonly outcome: Readonly<Record<string, number | null>>;
  readonly success: Readonly<Record<string, boolean>>;
  readonly seats: Episode['seats'];
  readonly stop: string;
  readonly failure?: string;
  readonly branchedFrom?: { readonly member: number; readonly turn: number };
  readonly scores: readonly {
    readonly by: string;
    readonly rewards: Readonly<Record<string, number | null>>;
  }[];
  /** How its credit was computed, where it was. */
  readonly credit?: StepCredit;
  /** Where the credit leaves it out. */
  readonly left: readonly string[];
  readonly seconds: number;
}
