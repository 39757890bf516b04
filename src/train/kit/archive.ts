/** Episodes that are learned from again: those of late in memory, the others where the run stored them. */

import type { EpisodeKey, Group } from '../../core/episode.ts';
import { keyText } from '../../core/episode-key.ts';
import { roleGroups, type Trajectory } from '../../core/trajectory.ts';
import type { ReadGroups } from '../../curation/insert.ts';
import type { Kept } from './learn.ts';

/** A trajectory with the advantage it had when it was played. */
export type Replayed = Trajectory & Pick<Kept, 'advantage'>;

export class Archive {
  readonly #read: ReadGroups;
  readonly #groups: Map<string, Group> = new Map();

  constructor(read: ReadGroups) {
    this.#read = read;
  }

  add(groups: readonly Group[]): void {
    for (const group of groups) {
      for (const { key } of group.members) this.#groups.set(keyText(key), group);
    }
  }

  /** The groups that hold these episodes, each once, in the order in which the keys name them; without those that were lost. */
  async read(keys: readonly EpisodeKey[]): Promise<Group[]> {
    const absent = keys.filter((key) => !this.#groups.has(keyText(key)));
    if (absent.length > 0) this.add(await this.#read(absent));
    return [...new Set(keys.flatMap((key) => this.#groups.get(keyText(key)) ?? []))];
  }

  /** The trajectories, in the order of `kept`. @throws RangeError where the run has lost one */
  async recall(kept: readonly Kept[]): Promise<Replayed[]> {
    const groups = await this.read(kept.map(({ episode }) => episode));
    const found = new Map(
      roleGroups(groups).flatMap(({ role, members }) =>
        members.map((trajectory) => [placeOf(trajectory.episode.key, role), trajectory] as const),
      ),
    );
    return kept.map(({ episode, role, advantage }) => {
      const trajectory = found.get(placeOf(episode, role));
      if (trajectory === undefined)
        throw new RangeError(`Episode ${keyText(episode)} is to be learned from again, but it is not stored`);
      return advantage === undefined ? trajectory : { ...trajectory, advantage };
    });
  }

  /** Forget all but these. */
  keepOnly(keys: readonly EpisodeKey[]): void {
    const wanted = new Set(keys.map(keyText));
    for (const name of this.#groups.keys()) if (!wanted.has(name)) this.#groups.delete(name);
  }
}

const placeOf = (key: EpisodeKey, role: string): string => `${keyText(key)}/${role}`;
