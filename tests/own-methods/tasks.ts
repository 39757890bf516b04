/** Sources of tasks of a user: DART and EXIT. */

import { defineTasks, type GroupRequest, type Place, user, z } from 'turnwise';

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length);

type Played = { readonly [task: string]: { readonly rate: number; readonly longest: number } };

/** DART, arXiv 2509.23866: fewer episodes of tasks that succeed often, and as many turns as successes took. */
export const dart = defineTasks({
  name: 'dart',
  summary: 'fewer episodes of tasks that succeed often, and as many turns as successes took',
  options: z.strictObject({
    most: z.int().min(2).default(8).describe('Episodes of a task that seldom succeeds'),
    threshold: z.number().min(0).max(1).default(0.6).describe('Success rate above which there are fewer'),
    cap: z.int().min(1).default(50).describe('Turns before the first success'),
  }),
  start: (): Played => ({}),
  next: ({ wanted, tasks, options: { most, threshold, cap }, memory }) =>
    tasks.fresh(wanted).map((index): GroupRequest => {
      const known = memory[index];
      const share = known && known.rate > threshold ? (1 - known.rate) / (1 - threshold) : 1;
      return {
        task: { split: 'train', index },
        members: Math.max(2, Math.round(most * share)),
        maxTurns: known && known.longest > 0 ? known.longest : cap,
      };
    }),
  remember(groups, { memory }) {
    const next: Record<string, { rate: number; longest: number }> = { ...memory };
    for (const { members } of groups) {
      const task = String(members[0]!.key.task);
      const old = next[task];
      const won = members.filter(({ success }) => success.agent);
      next[task] = {
        rate: 0.9 * (old?.rate ?? 0) + 0.1 * (won.length / members.length),
        longest: Math.max(old?.longest ?? 0, ...won.map(({ transitions }) => transitions.length)),
      };
    }
    return next;
  },
});

type Entry = { readonly place: Place; readonly variance: number };
type Pool = { readonly pool: readonly Entry[] };

/** EXIT, arXiv 2509.04575: some groups go on from what earlier ones did, the more so where these differed. */
export const exit = defineTasks({
  name: 'exit',
  summary: 'some groups go on from places of earlier episodes whose groups differed',
  options: z.strictObject({
    fresh: z.number().min(0).max(1).default(0.5).describe('Share of groups that begin anew'),
    diverge: z.number().min(0).max(1).default(0.5).describe('Share of the others that are told to differ'),
    size: z.int().min(1).default(64).describe('Places that are kept'),
  }),
  places: true,
  start: (): Pool => ({ pool: [] }),
  next: ({ wanted, members, tasks, options, memory: { pool }, rng }) =>
    tasks.fresh(wanted).map((index): GroupRequest => {
      const total = pool.reduce((sum, { variance }) => sum + variance, 0);
      if (total === 0 || rng.next() < options.fresh) return { task: { split: 'train', index }, members };
      let left = rng.next() * total;
      const entry = pool.find(({ variance }) => (left -= variance) < 0) ?? pool[0]!;
      const told = rng.next() < options.diverge;
      return {
        task: { place: entry.place },
        members,
        ...(told && { say: [user('try something different')] }),
      };
    }),
  remember: (groups, { memory, options }) => ({
    pool: [
      ...memory.pool,
      ...groups.flatMap(({ members }): Entry[] => {
        const returns = members.map(({ outcome }) => outcome.agent ?? 0);
        const variance = mean(returns.map((own) => (own - mean(returns)) ** 2));
        // The last place at which an episode certainly goes on.
        const transition = members[0]!.transitions.length - 2;
        const place = { episode: members[0]!.key, transition };
        return variance > 0 && transition >= 0 ? [{ place, variance }] : [];
      }),
    ]
      .sort((a, b) => b.variance - a.variance)
      .slice(0, options.size),
  }),
});
