/**
 * Success replay: where a whole group fails, its first episode gives way to an earlier success at the same task. ARPO for GUI
 * agents, arXiv 2505.16282; the experience pool of DART, arXiv 2509.23866, is the same rule with `replace=false` and a larger `size`.
 *
 * A success of this step can join from the next one on, so that no batch replays itself.
 * 1. Its tokens keep the log-probabilities of the weights that sampled them, however old these are.
 */

import { z } from 'zod';
import type { Choice, Episode, EpisodeKey, Group, Role } from '../core/episode.ts';
import { isPlayedIn, keyText } from '../core/episode-key.ts';
import { mean, populationStd } from '../core/statistics.ts';
import { chainOf, trainedRoles } from '../core/trajectory.ts';
import { type DefinedCuration, defineCuration, type Insertion } from './curation.ts';

/** Each task with its successes, oldest first; the task that succeeded latest comes last. */
type Successes = readonly (readonly [task: string, episodes: readonly EpisodeKey[]])[];

const learn: Choice = { inBaseline: true, inLoss: true, weight: 1 };
const leave: Choice = { inBaseline: false, inLoss: false, weight: 0 };

export const successReplay: DefinedCuration = defineCuration({
  name: 'success-replay',
  summary: 'an earlier success at its task joins a group that failed',
  inserts: true,
  oneRole: true,
  options: z.strictObject({
    mean: z.number().default(0.2).describe('A group fails whose mean outcome is below this, …'),
    spread: z
      .number()
      .min(0)
      .default(0.05)
      .describe('… and whose outcomes have a smaller standard deviation than this'),
    least: z.number().default(0.1).describe('Outcome above which an episode is a success'),
    size: z.int().min(1).default(8).describe('Successes that are kept of a task, the latest'),
    tasks: z.int().min(1).default(512).describe('Tasks whose successes are kept, the latest to succeed'),
    replace: z.boolean().default(true).describe('Whether the first episode of the group gives way'),
  }),
  start: (): Successes => [],
  choose(groups, { memory, rng, isIn, options }) {
    const stored = new Map(memory);
    const insert: Insertion[] = [];
    const replaced = new Set<Episode>();
    const there = new Set(groups.flatMap(({ members }) => members.map(({ key }) => keyText(key))));
    for (const [group, all] of groups.entries()) {
      const own = all.members.flatMap((episode) => {
        const { role, outcome } = earnedIn(all, episode);
        return isIn(episode, role) ? [{ episode, outcome }] : [];
      });
      const [first] = own;
      if (
        !first ||
        !hasFailed(
          own.map(({ outcome }) => outcome),
          options,
        )
      )
        continue;
      // The step may hold several groups of a task.
      const earlier = (stored.get(taskOf(first.episode.key)) ?? []).filter((key) => !there.has(keyText(key)));
      if (earlier.length === 0) continue;
      const episode = rng.pick(earlier);
      insert.push({ group, episode });
      there.add(keyText(episode));
      if (options.replace) replaced.add(first.episode);
    }
    return { insert, choice: (episode) => (replaced.has(episode) ? leave : learn) };
  },
  remember: (groups, { memory, options }) => remembered(memory, groups, options),
});

/** What the policy's role earned. */
function earnedIn(group: Group, episode: Episode): { readonly role: Role; readonly outcome: number } {
  const role = trainedRoles(chainOf(group, episode))[0] ?? Object.keys(episode.outcome)[0] ?? '';
  return { role, outcome: episode.outcome[role] ?? 0 };
}

const taskOf = ({ split, task }: EpisodeKey): string => `${split}/${task}`;

interface Failing {
  readonly mean: number;
  readonly spread: number;
}

const hasFailed = (outcomes: readonly number[], failing: Failing): boolean =>
  mean(outcomes) < failing.mean && populationStd(outcomes) < failing.spread;

interface Kept {
  readonly least: number;
  readonly size: number;
  readonly tasks: number;
}

/** With the successes of this step; those that were inserted into it are known already. */
function remembered(memory: Successes, groups: readonly Group[], kept: Kept): Successes {
  const next = new Map(memory);
  for (const group of groups) {
    for (const episode of group.members) {
      const { key } = episode;
      if (!isPlayedIn(group, episode) || earnedIn(group, episode).outcome <= kept.least) continue;
      const task = taskOf(key);
      const episodes = [...(next.get(task) ?? []), key].slice(-kept.size);
      next.delete(task);
      next.set(task, episodes);
    }
  }
  return [...next].slice(-kept.tasks);
}
