/** What the page and its worker say to each other. */

import type { Json } from '../../core/json/json.ts';
import type { Provider } from '../../graph/browser/loaded-graph.ts';
import type { RunEvent } from '../../train/loop/events.ts';
import type { Problem } from '../../view/shapes.ts';

export type WorldChoice = 'frozen-lake' | 'wordle' | 'own';

export interface StartRequest {
  readonly world: WorldChoice;
  /** The visitor's module, where the world is her own. */
  readonly code: string;
  readonly steps: number;
  readonly seed: number;
  readonly threads: number;
  readonly provider: Provider;
}

export type Ask =
  /** What the viewer's pages ask their server for. */
  | { readonly kind: 'view'; readonly path: string }
  /** The run as an archive, under this name. */
  | { readonly kind: 'archive'; readonly name: string };

export type ToWorker =
  | ({ readonly type: 'start' } & StartRequest)
  | { readonly type: 'stop' }
  | { readonly type: 'ask'; readonly id: number; readonly ask: Ask };

/** A group whose episodes can be looked at. */
export interface ListedGroup {
  readonly group: number;
  readonly task: Json;
  readonly members: readonly {
    readonly member: number;
    readonly success: boolean;
    readonly failed: boolean;
  }[];
}

export interface ListedEpisodes {
  readonly step: number;
  readonly label: 'training' | 'sampled' | 'greedy';
  readonly groups: readonly ListedGroup[];
  /** Groups that are not listed. */
  readonly more: number;
}

export type FromWorker =
  /** What computes, and why not what was asked for. */
  | {
      readonly type: 'computes';
      readonly provider: Provider;
      readonly threads: number;
      readonly note?: string;
    }
  | { readonly type: 'event'; readonly event: RunEvent }
  | { readonly type: 'episodes'; readonly listed: ListedEpisodes }
  | { readonly type: 'checkpoint'; readonly step: number }
  | { readonly type: 'ended'; readonly how: 'finished' | 'stopped' }
  | { readonly type: 'ended'; readonly how: 'failed'; readonly problem: Problem }
  | { readonly type: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly type: 'answer'; readonly id: number; readonly problem: Problem };
