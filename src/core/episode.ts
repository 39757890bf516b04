/**
 * The record of an episode: calls (completions, whoever wrote them) and transitions (what the environment did next). The
 * rollout and the gateway write it, the store keeps it, and everything later (credit, samples, pages) is computed from it.
 */

import type { Facts, TurnFacts } from './facts.ts';
import type { Json, JsonObject } from './json/json.ts';
import type { Message, Reply, ToolDeclaration } from './messages.ts';
import type { StopReason } from './stop.ts';

export type Role = string;
export type ByRole<T> = Readonly<Record<Role, T>>;
export type Split = 'train' | 'validation' | 'test';

/** Names an episode for ever. A type alias, since interfaces are not assignable to `Json`. */
export type EpisodeKey = {
  /** The step that asked for it, from 1: the one of its event. 0 before the first. */
  readonly step: number;
  readonly environment: string;
  readonly split: Split;
  /** Index of the task, or the hash of its JSON where it has none. */
  readonly task: number | string;
  readonly group: number;
  readonly member: number;
};

/** After a transition of an episode, counted through its prefix; after -1 is its start. */
export type Place = { readonly episode: EpisodeKey; readonly transition: number };

/** Why a completion is not trained on. */
export type Untrainable =
  /** A scripted player or teacher wrote it: imitation learns from it, policy gradients do not. */
  | 'scripted'
  /** A person wrote it. */
  | 'person'
  /** Another player than the learner wrote it: an earlier self, a frozen model, an endpoint. */
  | 'other-model'
  /** Whoever sampled it gave no token ids, or no log-probabilities. */
  | 'no-token-ids'
  /** It belongs to a prefix that an earlier step played. */
  | 'earlier'
  /** It was held to a schema, and what each token was chosen among is not kept. */
  | 'constrained'
  /** A setting leaves it out. */
  | 'left-out';

/** Why a call begins a path of its own instead of extending its parent's. */
export type NewPath =
  | 'window'
  | 'asked'
  | 'rewritten'
  | 'dropped'
  | 'tools-changed'
  | 'system-changed'
  | 'foreign-words';

/** Who wrote a completion: the player, and the version of the weights behind it. */
export interface Author {
  readonly kind: 'policy' | 'script' | 'person' | 'model';
  /** A player's name; of an endpoint its model and host. */
  readonly name: string;
  readonly version: number;
}

export interface Sampling {
  /** 0 is greedy. */
  readonly temperature: number;
  /** Keep the smallest set of tokens whose probabilities sum to at least this; 1 keeps all. */
  readonly topP: number;
  /** Keep the k most probable tokens; 0 keeps all. */
  readonly topK: number;
  readonly maxTokens: number;
}

/** A part of a conversation: a message, a completion token for token, or the messages shown before a call. */
export type Part = Message | { readonly call: number } | { readonly shown: number };

/** How a completion ended: a stop token, the length limit, or it was not generated token by token. */
export type Finish = 'stop' | 'length' | 'none';

/** The k likeliest tokens in the place of each token, token after token, with their log-probabilities. */
export interface TopTokens {
  readonly ids: Int32Array;
  readonly logprobs: Float32Array;
}

/** One completion. Its prompt is the first `kept` tokens of (its parent's prompt + completion), then `context`. */
export interface Call {
  /** Order of asking, fixed before sampling. A branch counts on from its prefix. */
  readonly id: number;
  /** What owns context state and cache. */
  readonly conversation: string;
  /** The call that ran the sub-agent whose call this is. */
  readonly under?: number;
  /** The call that this one continues; absent: a context of its own. */
  readonly parent?: number;
  /** Absent: all, so the call extends its parent's path. Otherwise a path of its own begins here. */
  readonly kept?: number;
  readonly newPath?: NewPath;
  readonly role: Role;
  readonly by: Author;
  /** `act`, `summarize`, `plan`, `judge`, …: declared by whoever asked. */
  readonly purpose: string;
  readonly sampling: Sampling;
  /** The token sequences to which the completion was restricted. */
  readonly choices?: readonly Int32Array[];
  /** Token ids between what was kept and the completion. */
  readonly context: Int32Array;
  /** Token ids of the completion, exactly as sampled. */
  readonly ids: Int32Array;
  /**
   * Log-probability of each of `ids` at the sampling temperature, untruncated, and renormalised over `choices` where there
   * are any.
   */
  readonly logprobs: Float32Array;
  /** Entropies of the distributions of `logprobs`, summed over `ids`, in nats; absent where nobody could tell. */
  readonly entropy?: number;
  /** What a teacher would have written in the place of each of `ids`. */
  readonly top?: TopTokens;
  /** New to the role before this call. */
  readonly messages: readonly Message[];
  /** What `context` renders, where that is not `messages`. */
  readonly parts?: readonly Part[];
  /** Key into `Episode.tools`: the declarations that were offered. */
  readonly tools?: string;
  readonly text: string;
  /** `text` as it was parsed. */
  readonly reply?: Reply;
  /** What was wrong with its form. */
  readonly problem?: string;
  readonly finish: Finish;
  readonly trainable: true | Untrainable;
  /** Milliseconds since the episode's start. */
  readonly at: number;
  /** Milliseconds in the queue. */
  readonly waitMs: number;
  /** Milliseconds of computing. */
  readonly policyMs: number;
}

/** What the environment did next, because of a call or by itself. */
export interface Transition {
  readonly call?: number;
  readonly role: Role;
  /** Key of the state in which the role acted; equal keys are the same state. */
  readonly anchor: string;
  readonly action: string;
  /** Whether the environment accepted the action. */
  readonly valid: boolean;
  /** Attempt at the task, from 0. */
  readonly attempt?: number;
  readonly rewards: ByRole<number>;
  /** Averaged into events as `env/<name>`. */
  readonly metrics?: Readonly<Record<string, number>>;
  /** What credit methods may read. */
  readonly facts?: Facts;
  /** A recipe's own, under its name; what else the environment said, under `info`. */
  readonly notes?: Readonly<Record<string, Json>>;
  readonly at: number;
  readonly environmentMs: number;
}

/** The credit of one step: with the episodes and what is stored with each, all that its advantages were computed from. */
export interface StepCredit {
  readonly method: string;
  /** With defaults filled in. */
  readonly options: JsonObject;
  /** Reward shapings before the method, in order, with their options. */
  readonly shape: Readonly<Record<string, JsonObject>>;
  /** Rewards were multiplied by it. */
  readonly rewardScale: number;
  /** Of the method before the step, such as moving baselines. */
  readonly state: JsonObject;
  /**
   * Present where roles have seats: the states of further learners by name. Each learner computes credit from its own
   * roles, and other players' roles have none.
   */
  readonly players?: Readonly<Record<string, JsonObject>>;
}

/** What curation decides about one role of an episode. */
export interface Choice {
  /** Whether the credit method sees it: whether it is compared with the others of its group. */
  readonly inBaseline: boolean;
  /** Whether its tokens are in the loss; then it is in the baseline too, unless its advantage is given. */
  readonly inLoss: boolean;
  /** Factor on the loss of its tokens. */
  readonly weight: number;
  /** Further factors, one for each of its K turns. A turn of weight 0 is not in the loss. */
  readonly weights_K?: readonly number[];
  /** The advantage of all its turns, of an episode in the loss and not in the baseline: no credit method sees it. */
  readonly advantage?: number;
}

/** The choice of curation about one role of an episode, and its credit. A role that was left out has none. */
export interface StoredCredit extends Choice {
  readonly trainedIn: number;
  readonly advantages_K: readonly number[];
  /** One per sampled token, turn after turn, from methods of tokens. */
  readonly advantages_T?: readonly number[];
  /** Added to the scaled reward of each turn, such as a price of divergence. */
  readonly bonus_K?: readonly number[];
  /** What the critic said before each sampled token. */
  readonly values?: readonly number[];
  readonly entropies?: readonly number[];
  /** Facts of each turn that the recipe found out beside the environment's. */
  readonly facts_K?: readonly TurnFacts[];
}

/** What was added to what an episode earned. */
export interface EpisodeScore {
  readonly by: string;
  readonly rewards: ByRole<number>;
  /** How the reward of a role is divided among its turns, one for each; absent: all of it is the last turn's. */
  readonly turns?: ByRole<readonly number[]>;
}

export interface Episode {
  readonly key: EpisodeKey;
  readonly task: Json;
  /** The instruction that it read, of a source of prompts; absent where there was none. */
  readonly prompt?: string;
  /** What the source of its task told it before its first turn, or at the place where it started. */
  readonly told?: readonly Message[];
  /** What it was told to help it, which it is learned from without. */
  readonly stripped?: readonly Message[];
  /** In a world of worlds: the name of the one that it was played in. */
  readonly part?: string;
  readonly calls: readonly Call[];
  readonly transitions: readonly Transition[];
  readonly tools: Readonly<Record<string, readonly ToolDeclaration[]>>;
  /** Who sits where. */
  readonly seats: ByRole<{ readonly player: string; readonly version: number }>;
  /** Turns that each role had; absent in records of earlier versions. */
  readonly limit?: number;
  /**
   * The prefix, shared and not copied: up to a place, with its first `calls` calls. Calls and transitions count on. From there it
   * met the chance of its origin, or one of its own.
   */
  readonly branchedFrom?: Place & { readonly calls: number; readonly chance?: 'fresh' };
  /** Its first calls and transitions are copies of what earlier steps played: up to these places, one after another. */
  readonly startedAt?: readonly Place[];
  /** What each role would have read next. */
  readonly closing?: ByRole<readonly Message[]>;
  /** Of judges, and of comparisons within the group. */
  readonly scores?: readonly EpisodeScore[];
  /** Sum of the transitions' rewards and of the scores. */
  readonly outcome: ByRole<number>;
  readonly success: ByRole<boolean>;
  readonly stop: StopReason;
  /** What failed, for `failed:*` and `timeout`. */
  readonly failure?: string;
  readonly credit?: ByRole<StoredCredit>;
}

/** Episodes of one task from one start, with their branches. An inserted member keeps its key. */
export interface Group {
  readonly step: number;
  readonly group: number;
  readonly members: readonly Episode[];
}
