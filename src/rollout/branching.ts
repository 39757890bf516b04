/**
 * Branching: some episodes of a group start afresh, the others go on from places in these where the policy was unsure.
 *
 *   a place is before a turn k > 1 of an episode;   its score is α + β·(H_k - H_1),   H_k the surprise per token of turn k
 *   ARPO: places with a score above the threshold, highest first, at most `width` branches each
 *   AEPO: of M episodes round(M·σ(balance·(H_1 - mean of later H))) start afresh, from what one episode showed, and each
 *         branch lowers the score of further ones on its episode by the factor 1 - min(1, penalty·branches)
 *
 * Sources: ARPO, arXiv 2507.19849; AEPO, arXiv 2510.14545; trees of turns as in MALT, arXiv 2412.01928.
 * 1. Entropies are estimated by -log π of what was sampled, in nats; the papers take them over the ten likeliest tokens and
 *    divide by the logarithm of the vocabulary.
 * 2. Places are chosen once the first episodes have ended, not while they are played, so H_k is known for the whole turn.
 *    Branches are not branched again.
 * 3. Episodes that no place was found for start afresh.
 * 4. AEPO's penalty counts branches of an episode; the paper counts those in a row.
 */

import type { Episode, Group } from '../core/episode.ts';
import { Rng } from '../core/rng.ts';
import { actOf, roleGroups, type Trajectory, type Turn } from '../core/trajectory.ts';
import { type CollectOptions, episodeOf, type GroupRequest, gather, playEpisodes } from './collect.ts';
import { closeForks, type EpisodeRequest, type Fork } from './episode.ts';

export interface Branching {
  /** Share of a group's episodes that start afresh. */
  readonly initial: number;
  readonly alpha: number;
  readonly beta: number;
  readonly threshold: number;
  /** Branches of one place, at most. */
  readonly width: number;
  /** AEPO: how strongly surprise decides the share that starts afresh; 0 takes `initial`. */
  readonly balance: number;
  /** AEPO: by how much each branch lowers the score of further ones on the same episode. */
  readonly penalty: number;
}

export type BranchingOptions = CollectOptions & { readonly branching: Branching };

interface Played {
  readonly episode: Episode;
  readonly forks: readonly Fork[];
}

/** Play groups of which a part branches off the others. Sessions that cannot be copied give none, so all start afresh. */
export async function collectBranches(
  requests: readonly GroupRequest[],
  options: BranchingOptions,
): Promise<Group[]> {
  const { branching, seed } = options;
  const first = requests.map(({ members }) =>
    branching.balance > 0 ? 1 : freshMembers(branching.initial, members),
  );
  const played = await playFresh(requests, (group) => [0, first[group]!], options);
  if (branching.balance > 0) {
    const fresh = requests.map(({ members }, group) =>
      freshMembers(balancedShare(branching.balance, trajectoriesOf(played[group]!)), members),
    );
    const more = await playFresh(requests, (group) => [first[group]!, fresh[group]!], options);
    for (const [group, episodes] of more.entries()) played[group]!.push(...episodes);
  }
  const branches = requests.flatMap((request, group): EpisodeRequest[] => {
    const own = played[group]!;
    const left = request.members - own.length;
    const rng = Rng.of('branches', seed, request.drawsAs ?? request.step, request.group);
    const forks = chooseForks(own, branching, left, rng);
    return Array.from({ length: left }, (_, index) => ({
      ...episodeOf(request, own.length + index, options),
      ...(forks[index] && { from: forks[index] }),
    }));
  });
  const grown = await playEpisodes(branches, options);
  await closeForks(played.flat().flatMap(({ forks }) => forks));
  return gather(requests, [...played.flat().map(({ episode }) => episode), ...grown]);
}

/** Play full trees: `width` episodes from the start, and at every later turn so many branches, up to the group's size. */
export async function collectTrees(
  requests: readonly GroupRequest[],
  options: BranchingOptions,
): Promise<Group[]> {
  const { width } = options.branching;
  const played = await playFresh(
    requests,
    (group) => [0, Math.min(width, requests[group]!.members)],
    options,
  );
  for (let depth = 1; ; depth++) {
    const wanted = requests.map((request, group) => {
      const places = played[group]!.flatMap(({ forks }) => forks.filter((fork) => turnsOf(fork) === depth));
      const forks = places.flatMap((fork) => new Array<Fork>(width - 1).fill(fork));
      return forks.slice(0, request.members - played[group]!.length);
    });
    if (wanted.every((forks) => forks.length === 0)) break;
    const branches = await playKeeping(
      requests.flatMap((request, group) =>
        wanted[group]!.map((from, index) => ({
          ...episodeOf(request, played[group]!.length + index, options),
          from,
        })),
      ),
      options,
    );
    let next = 0;
    for (const [group, forks] of wanted.entries()) {
      played[group]!.push(...branches.slice(next, next + forks.length));
      next += forks.length;
    }
  }
  await closeForks(played.flat().flatMap(({ forks }) => forks));
  return gather(
    requests,
    played.flat().map(({ episode }) => episode),
  );
}

/** The roles of episodes of one group, episode after episode. */
function trajectoriesOf(played: readonly Pick<Played, 'episode'>[]): Trajectory[] {
  const members = played.map(({ episode }) => episode);
  return roleGroups([{ step: 0, group: 0, members }]).flatMap((group) => group.members);
}

/** The places to branch at, at most `count` of them; a place occurs as often as it is branched. */
export function chooseForks(
  played: readonly Played[],
  { alpha, beta, threshold, width, penalty }: Branching,
  count: number,
  rng: Rng,
): Fork[] {
  const trajectories = trajectoriesOf(played);
  const places = rng.shuffle(
    played.flatMap(({ episode: { key }, forks }, episode) =>
      forks.map((fork) => ({
        episode,
        fork,
        score:
          alpha +
          beta *
            unsureness(
              trajectories.filter((trajectory) => trajectory.episode.key === key),
              fork,
            ),
        taken: 0,
      })),
    ),
  );
  const branches = new Map<number, number>();
  const chosen: Fork[] = [];
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
    chosen.push(best.fork);
  }
  return chosen;
}

/** How much more surprising the turn after the place was than the first turn. */
function unsureness(trajectories: readonly Trajectory[], fork: Fork): number {
  for (const { role, turns } of fork.seats) {
    const own = trajectories.find((trajectory) => trajectory.role === role);
    const after = own?.turns[turns];
    // The role that moved next is the one whose messages grew last; with one role it is that one.
    if (own && after && fork.role === role) return surprise(after) - surprise(own.turns[0]!);
  }
  return 0;
}

/** Minus the mean log-probability of the sampled tokens: an unbiased estimate of the entropy per token. */
function surprise(turn: Turn): number {
  const logprobs = actOf(turn)?.logprobs ?? [];
  return logprobs.length === 0 ? 0 : -sumOf(logprobs) / logprobs.length;
}

/** σ(balance · (H_1 - mean of later H)): much surprise at the question asks for fresh episodes, at results for branches. */
export function balancedShare(balance: number, trajectories: readonly Trajectory[]): number {
  const turns = trajectories.flatMap((trajectory) => trajectory.turns);
  const later = trajectories.flatMap((trajectory) => trajectory.turns.slice(1)).map(surprise);
  const first = turns[0] ? surprise(turns[0]) : 0;
  const mean = later.length === 0 ? first : later.reduce((sum, value) => sum + value, 0) / later.length;
  return 1 / (1 + Math.exp(-balance * (first - mean)));
}

const freshMembers = (share: number, members: number): number =>
  Math.min(members, Math.max(1, Math.round(share * members)));

/** Members `from` to `to` of each group from the start, with the places that they passed. */
async function playFresh(
  requests: readonly GroupRequest[],
  range: (group: number) => readonly [from: number, to: number],
  options: BranchingOptions,
): Promise<Played[][]> {
  const counts = requests.map((_, group) => Math.max(0, range(group)[1] - range(group)[0]));
  const played = await playKeeping(
    requests.flatMap((request, group) =>
      Array.from({ length: counts[group]! }, (_, index) =>
        episodeOf(request, range(group)[0] + index, options),
      ),
    ),
    options,
  );
  let next = 0;
  return counts.map((count) => {
    const own = played.slice(next, next + count);
    next += count;
    return own;
  });
}

async function playKeeping(episodes: readonly EpisodeRequest[], options: CollectOptions): Promise<Played[]> {
  const forks: Fork[][] = episodes.map(() => []);
  const results = await playEpisodes(
    episodes.map((episode, index) => ({ ...episode, onFork: (fork) => forks[index]!.push(fork) })),
    options,
  );
  return results.map((episode, index) => ({ episode, forks: forks[index]! }));
}

const turnsOf = ({ seats }: Fork): number => seats.reduce((sum, { turns }) => sum + turns, 0);

function sumOf(numbers: ArrayLike<number>): number {
  let sum = 0;
  for (let index = 0; index < numbers.length; index++) sum += numbers[index]!;
  return sum;
}
