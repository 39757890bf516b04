/** A placebo: where a whole group fails, any earlier episode at its task takes the place of its first, whether it succeeded or not. */

import { defineCuration, type Episode, type EpisodeKey, z } from 'turnwise';

type Kept = readonly (readonly [task: string, episodes: readonly EpisodeKey[]])[];

/** Tasks and episodes of a task that are kept, the latest. */
const TASKS = 512;
const EPISODES = 8;

const taskOf = ({ split, task }: EpisodeKey): string => `${split}/${task}`;

export const anyEpisode = defineCuration({
  name: 'any-episode',
  summary: 'an earlier episode at its task joins a group that failed',
  oneRole: true,
  options: z.strictObject({}),
  start: (): Kept => [],
  choose(groups, { memory, rng }) {
    const stored = new Map(memory);
    const replaced = new Set<Episode>();
    const taken = new Set<string>();
    const insert = groups.flatMap(({ members }, group) => {
      const [first] = members;
      if (first === undefined || members.some(({ success }) => success.agent)) return [];
      const earlier = (stored.get(taskOf(first.key)) ?? []).filter((key) => !taken.has(JSON.stringify(key)));
      if (earlier.length === 0) return [];
      const episode = rng.pick(earlier);
      taken.add(JSON.stringify(episode));
      replaced.add(first);
      return [{ group, episode }];
    });
    return {
      insert,
      choice: (episode) => {
        const stays = !replaced.has(episode);
        return { inBaseline: stays, inLoss: stays, weight: stays ? 1 : 0 };
      },
    };
  },
  remember(groups, { memory, step }) {
    const next = new Map(memory);
    for (const { members } of groups) {
      for (const { key } of members.filter((episode) => episode.key.step === step)) {
        const task = taskOf(key);
        const episodes = [...(next.get(task) ?? []), key].slice(-EPISODES);
        next.delete(task);
        next.set(task, episodes);
      }
    }
    return [...next].slice(-TASKS);
  },
});
