/** What an episode is played with, and which one it is. */

import type { ByRole, Call, Episode, EpisodeKey, Sampling } from '../core/episode.ts';
import type { Json } from '../core/json/json.ts';
import type { Message } from '../core/messages.ts';
import type { World } from '../env/world.ts';
import type { Renderer } from '../model/chat/renderer.ts';
import type { Policy } from '../policy/policy.ts';
import type { AgentNames } from './agent-names.ts';
import type { Context } from './context/strategy.ts';
import type { KeptPlace } from './kept-place.ts';
import type { CopiedPrefix } from './turns/copied-prefix.ts';
import type { Replay } from './turns/replay.ts';
import type { TurnRules } from './turns/turn-control.ts';
import type { Watch } from './watch.ts';

export interface EpisodeOptions {
  readonly world: World;
  readonly policy: Policy;
  readonly renderer: Renderer;
  readonly context: Context;
  readonly sampling: Omit<Sampling, 'maxTokens'>;
  /** Whether acts are restricted to the legal ones, where the environment lists them. */
  readonly choices?: boolean;
  /** Whether calls of tools and JSON answers are held to their schemas; such completions are not trained on. */
  readonly constrained?: boolean;
  readonly maxTurns: number;
  /** Longest prompt + completion in tokens. */
  readonly contextLength: number;
  readonly turnTimeoutMs: number;
  /** What comes after each turn. Default: what the environment says. */
  readonly turns?: TurnRules;
  /** What each role is called, where several agents exchange roles; read before its first turn. */
  readonly names?: AgentNames;
  /** Names all randomness of the run. */
  readonly seed: string | number;
  /** Names, besides it, what the policy samples and nothing else. */
  readonly policyKey?: string;
  readonly signal: AbortSignal;
  readonly watch: Watch;
  /** Told of each call of an agent when it is answered: for whoever watches. The agent waits for it. */
  readonly onCall?: (call: Call, episode: EpisodeKey) => Promise<void>;
}

export interface EpisodeRequest {
  readonly key: EpisodeKey;
  readonly task: Json;
  /** Why its task could not be read: the episode fails without being played. */
  readonly failure?: string;
  /** Names its random streams in place of its own key: evaluations at different steps draw alike. */
  readonly drawsAs?: EpisodeKey;
  /** Go on from here instead of starting. */
  readonly from?: KeptPlace;
  /** Of what comes after it: what its origin met, or a chance of its own. Default: same. */
  readonly chance?: 'same' | 'fresh';
  /** Transitions of its own after which it stops with 'early-stop'. */
  readonly turns?: number;
  /** Keeps places from which others may go on. */
  readonly keeper?: Keeper;
  /** Turns that each role has, where it is not for the turn control to say. */
  readonly maxTurns?: number;
  /** An instruction that roles read before their first turns. */
  readonly say?: readonly Message[];
  /** Whether what is learned from is to be without that instruction; the record keeps both. */
  readonly strip?: boolean;
  /** An instruction that they read before that; the record keeps it. */
  readonly prompt?: string;
  /** Players of its roles, by name, in place of those that the settings seat. */
  readonly seats?: ByRole<string>;
  /** What it does first: what an earlier step did. */
  readonly copied?: CopiedPrefix;
  /** What it does first, where it is a stored episode that is played again: in place of `copied` and `from`. */
  readonly replayed?: Replay;
}

/** Decides after every transition but the last whether its place is kept, and owns those that are. */
export interface Keeper {
  /** @param episode as it would be if it stopped there */
  keeps(episode: Episode, transition: number): boolean;
  keep(place: KeptPlace): void;
  /** Whether the next prompt at each is wanted. */
  readonly prompts: boolean;
}
