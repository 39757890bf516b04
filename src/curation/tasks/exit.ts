/**
 * Exploratory iteration: beside fresh tasks, groups go on from what earlier episodes had done, drawn in proportion to how much the
 * returns of the group that was last played from there differed. ExIt, arXiv 2509.04575.
 *
 * Of each group whose returns differ, some places of its episodes join the pool with the variance of the group, their start
 * (turn −1) among them, so that a task may be attempted again from its beginning. A group that is played from a place gives
 * it a variance of its own. The pool is in every checkpoint: a place is a key of an episode and a turn, and the run stores
 * the episodes that it names.
 * 1. The paper's histories are attempts at a solution, each of which is a turn; here any turn of an episode is a place.
 * 2. Sizes and shares are our choice where the paper has none; nobody is told to diverge by default, since a small model
 *    has no word for it.
 * 3. The paper's bonus for answers that differ from those of their group is no part of this.
 */

import { z } from 'zod';
import type { Episode, Group, Place } from '../../core/episode.ts';
import { isPlayedIn, placeText } from '../../core/episode-key.ts';
import { user } from '../../core/messages.ts';
import type { Rng } from '../../core/rng.ts';
import { populationStd } from '../../core/statistics.ts';
import { chainOf, trainedRoles } from '../../core/trajectory.ts';
import { type DefinedTasks, defineTasks, type GroupRequest } from './task-source.ts';

/** A place, and the variance of the returns of the group that was last played from there. */
export type PooledPlace = { readonly place: Place; readonly variance: number };

/** The latest last. */
export type PlacePool = readonly PooledPlace[];

export const exit: DefinedTasks = defineTasks({
  name: 'exit',
  summary: 'fresh tasks, and groups that go on from where returns of earlier ones differed',
  places: true,
  options: z.strictObject({
    fresh: z.number().min(0).max(1).default(0.5).describe('Share of groups that play fresh tasks'),
    size: z.int().min(1).default(512).describe('Places that are kept, those of the largest variance'),
    places: z.int().min(1).default(1).describe('Places of a group that join the pool'),
    least: z.number().min(0).default(0).describe('Variance of returns above which places are kept'),
    draw: z
      .enum(['variance', 'uniform'])
      .default('variance')
      .describe('How places are drawn; uniform is the control'),
    diverge: z
      .number()
      .min(0)
      .max(1)
      .default(0)
      .describe('Share of the groups from places that are told to diverge'),
    say: z.string().default('Try something quite different.').describe('What they are told'),
  }),
  start: (): PlacePool => [],
  next({ round, wanted, members, tasks, memory, options, rng }) {
    return tasks.fresh(wanted).map((index): GroupRequest => {
      // Further rounds are played for want of groups that differ: only fresh tasks are sure to be others.
      const entry =
        round > 0 || rng.chance(options.fresh)
          ? undefined
          : drawPlace(memory, options.draw === 'uniform' ? () => 1 : ({ variance }) => variance, rng);
      if (entry === undefined) return { task: { split: 'train', index }, members };
      const told = rng.chance(options.diverge);
      return { task: { place: entry.place }, members, ...(told && { say: [user(options.say)] }) };
    });
  },
  remember: (groups, { memory, options, rng }) => updatePlaces(memory, groups, options, rng),
});

/** A place, with a chance in proportion to its weight; undefined where no weight is above 0. */
export function drawPlace(
  pool: PlacePool,
  weight: (entry: PooledPlace) => number,
  rng: Rng,
): PooledPlace | undefined {
  const total = pool.reduce((sum, entry) => sum + weight(entry), 0);
  let left = rng.next() * total;
  return pool.find((entry) => {
    left -= weight(entry);
    return left < 0;
  });
}

interface Kept {
  readonly size: number;
  readonly places: number;
  readonly least: number;
}

/** The pool after a step: places that were played from have new variances, and groups that differ add theirs. */
export function updatePlaces(
  pool: PlacePool,
  groups: readonly Group[],
  { size, places, least }: Kept,
  rng: Rng,
): PlacePool {
  const next = new Map(pool.map((entry) => [placeText(entry.place), entry]));
  for (const group of groups) {
    // Those that a curation inserted began elsewhere.
    const members = group.members.filter((episode) => isPlayedIn(group, episode));
    const [role, ...others] = new Set(members.flatMap((episode) => trainedRoles(chainOf(group, episode))));
    if (role === undefined || others.length > 0 || members.length < 2) continue;
    const variance = populationStd(members.map(({ outcome }) => outcome[role] ?? 0)) ** 2;
    const from = members[0]!.startedAt?.at(-1);
    const known = from && next.get(placeText(from));
    if (known) next.set(placeText(from), { ...known, variance });
    if (variance <= least) continue;
    for (const { key, place } of rng.shuffle(members.flatMap(placesIn)).slice(0, places)) {
      next.set(key, { place, variance });
    }
  }
  const informative = [...next.values()].filter(({ variance }) => variance > least);
  if (informative.length <= size) return informative;
  const kept = new Set(
    informative
      .map((entry, age) => ({ entry, age }))
      // Of equal ones the older goes.
      .sort((a, b) => b.entry.variance - a.entry.variance || b.age - a.age)
      .slice(0, size)
      .map(({ entry }) => entry),
  );
  return informative.filter((entry) => kept.has(entry));
}

/** The places of an episode that are its own: its start where that is no place of another, to its last turn but one. */
function placesIn({ key, startedAt = [], branchedFrom, transitions }: Episode) {
  if (branchedFrom) return [];
  const from = startedAt.at(-1);
  const first = from === undefined ? -1 : from.transition + 1;
  return Array.from({ length: Math.max(0, transitions.length - 1 - first) }, (_, index) => {
    const place: Place = { episode: key, transition: first + index };
    return { key: placeText(place), place };
  });
}
