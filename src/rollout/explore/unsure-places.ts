/**
 * Where branches begin that look for decisions: places after which the policy was unsure.
 *
 *   a place is before a turn k > 1 of an episode;   its score is α + β·(H_k - H_1),   H_k the entropy per token of turn k
 *   places with a score above the threshold branch, highest first, at most `width` times each
 *
 * 1. Entropies are in nats, over the whole vocabulary; where a player does not tell them, -log π of what it sampled stands in.
 *    The papers take them over the ten likeliest tokens and divide by the logarithm of the vocabulary.
 * 2. Places are chosen once the first episodes have ended, not while they are played, so H_k is known for the whole turn.
 *    Branches are not branched again.
 * 3. Episodes that no place was found for start afresh.
 */

import type { Episode, Place } from '../../core/episode.ts';
import { keyText } from '../../core/episode-key.ts';
import type { Rng } from '../../core/rng.ts';
import { entropyOf } from '../../core/surprise.ts';
import { actOf, roleGroups, type Trajectory, type Turn } from '../../core/trajectory.ts';
import type { EpisodeTree, Expansion } from './tree.ts';

export interface UnsurenessOptions {
  /** Score of every place. */
  readonly alpha: number;
  /** Score of a nat of entropy above that of the first turn. */
  readonly beta: number;
  readonly threshold: number;
  /** Branches of one place, at most. */
  readonly width: number;
  /** By how much each branch lowers the score of further ones on the same episode; above 1 is 1. Default: 0. */
  readonly penalty?: number;
}

export const isWhole = ({ branchedFrom }: Episode): boolean => branchedFrom === undefined;

/** How many of the group's episodes start afresh, by share: at least one. */
export const freshMembers = (share: number, members: number): number =>
  Math.min(members, Math.max(1, Math.round(share * members)));

/** All episodes that are still wanted: branches where places are unsure enough, the others from the start. */
export function branchesOf(
  tree: EpisodeTree,
  options: UnsurenessOptions,
  rng: Rng,
): readonly Expansion[] | 'done' {
  const left = tree.members - tree.episodes.length;
  if (left <= 0) return 'done';
  const places = choosePlaces(tree, options, left, rng);
  const rest = left - places.length;
  return [
    ...places.map((from) => ({ from, members: 1 })),
    ...(rest > 0 ? [{ from: 'start', members: rest } as const] : []),
  ];
}

/** The places to branch at, at most `count` of them; a place occurs as often as it is branched. */
function choosePlaces(
  { episodes, kept }: EpisodeTree,
  { alpha, beta, threshold, width, penalty = 0 }: UnsurenessOptions,
  count: number,
  rng: Rng,
): Place[] {
  const trajectories = trajectoriesOf(episodes);
  const places = rng.shuffle(
    kept.map((place) => ({
      place,
      episode: keyText(place.episode),
      score: alpha + beta * unsureness(trajectories, place),
      taken: 0,
    })),
  );
  const branches = new Map<string, number>();
  const chosen: Place[] = [];
  while (chosen.length < count) {
    let best: (typeof places)[number] | undefined;
    let highest = threshold;
    for (const place of places) {
      if (place.taken >= width) continue;
      const score = place.score * (1 - Math.min(1, penalty * (branches.get(place.episode) ?? 0)));
      if (score > highest) [best, highest] = [place, score];
    }
    if (best === undefined) break;
    best.taken++;
    branches.set(best.episode, (branches.get(best.episode) ?? 0) + 1);
    chosen.push(best.place);
  }
  return chosen;
}

/** The roles of whole episodes, episode after episode. */
export function trajectoriesOf(episodes: readonly Episode[]): Trajectory[] {
  return roleGroups([{ step: 0, group: 0, members: episodes }]).flatMap(({ members }) => members);
}

/** How much higher the entropy of the turn after the place was than that of the first turn of the same role. */
function unsureness(trajectories: readonly Trajectory[], { episode, transition }: Place): number {
  const name = keyText(episode);
  const own = trajectories.filter((trajectory) => keyText(trajectory.episode.key) === name);
  const next = own[0]?.episode.transitions[transition + 1];
  const ofMover = own.find(({ role }) => role === next?.role);
  const after = ofMover?.turns.find((turn) => turn.transition === next);
  return ofMover && after ? actEntropy(after) - actEntropy(ofMover.turns[0]!) : 0;
}

/** Of the turn's act, in nats a token; 0 where nothing was sampled. */
export function actEntropy(turn: Turn): number {
  const act = actOf(turn);
  return (act && entropyOf([act])) || 0;
}
