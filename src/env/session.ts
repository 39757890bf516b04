/** A live episode: what the rollout drives, whether behind it is a pure reducer, a game, a sandbox or a remote server. */

import type { Role } from '../core/episode.ts';
import type { Json } from '../core/json/json.ts';
import type { Message } from '../core/messages.ts';
import type { Rng } from '../core/rng.ts';
import type { WorldPart } from './mix/part.ts';

export type { Role } from '../core/episode.ts';

/** The role's name wherever there is only one. */
export const AGENT: Role = 'agent';

export interface StepResult {
  /** Reward of each role for this step; roles left out get 0. */
  readonly rewards: Readonly<Record<Role, number>>;
  readonly done: boolean;
  /** Which roles succeeded; matters when `done`. */
  readonly success: Readonly<Record<Role, boolean>>;
  readonly valid: boolean;
  /** Figures to watch: their means are events' metrics `env/<name>`. */
  readonly metrics?: Readonly<Record<string, number>>;
  readonly info?: Json;
}

/** What holding a snapshot costs: nothing beside its JSON, a process, or a container. */
export type SnapshotCost = 'free' | 'process' | 'container';

/** A place of an episode, held so that sessions can go on from it. Belongs to whoever took it, who disposes of it. */
export interface Snapshot {
  readonly cost: SnapshotCost;
  /**
   * A session of its own that goes on from here, as often as it is asked for. It repeats the chance that the origin had
   * from here on, so that the two differ only where their actions do; with `chance` it draws from that stream instead.
   */
  open(options?: { readonly chance?: Rng }): Promise<Session>;
  /** The whole of it, where it is free: plain JSON, which `world.reopen` reads. */
  toJson?(): Json;
  dispose(): Promise<void>;
}

export interface Session {
  readonly roles: readonly Role[];
  /** In a world of worlds: the one that this episode is played in. */
  readonly part?: WorldPart;
  /** Who acts now; undefined when the episode is over. */
  toMove(): Role | undefined;
  /** What `role` reads before its turn, and at the end. Asked twice without a step between, it gives the same. */
  observe(role: Role): readonly Message[];
  /** Key of the present state, as `role` can know it. */
  anchor(role: Role): string;
  /** Take the action of `toMove()`. Must stop when `signal` aborts. */
  step(action: string, signal: AbortSignal): Promise<StepResult>;
  /** Hold the present place, where that is possible. The world says what it costs in `snapshots`. */
  snapshot?(): Promise<Snapshot>;
  /** What can be done now, where that is known: people are told. */
  actions?(): readonly string[] | undefined;
  /** What a scripted player of `role` writes down here to go on without what it read before; undefined where nobody knows. */
  notes?(role: Role): string | undefined;
  /** The same slot by slot, for contexts that keep a task graph: what each is about, and its value. */
  slots?(role: Role): Readonly<Record<string, string>> | undefined;
  /** A picture of the state for people. */
  render?(): string;
  close(): Promise<void>;
}
