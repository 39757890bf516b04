/** What a person said about an episode: the shape of a line in `annotations.jsonl` of a run. */

import type { EpisodeKey } from '../core/episode.ts';
import type { EpisodeLabel } from '../store/rollouts/episode-line.ts';

export interface Annotation {
  readonly version: 1;
  /** ISO 8601. */
  readonly at: string;
  readonly place: string;
  readonly group: number;
  readonly member: number;
  readonly label: EpisodeLabel;
  readonly episode: EpisodeKey;
  readonly verdict?: 'up' | 'down';
  /** What should have been done at a turn, counted from 0. */
  readonly correction?: { readonly turn: number; readonly action: string };
  readonly note?: string;
}

export const annotationsFile = 'annotations.jsonl';
