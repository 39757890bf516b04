/** Episodes that are learned from again: those of late in memory, the others where the run stored them. */

import type { EpisodeKey, Group } from '../../core/episode.ts';
import { keyText } from '../../core/episode-key.ts';
import { roleGroups, type Trajectory } from '../../core/trajectory.ts';
import type { Kept } from './learn.ts';

/** Reads groups that a run stored, by the keys of some of their members. */
export type ReadGroups = (keys: readonly EpisodeKey[]) => Promise<readonly Group[]>;

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

  /** The trajectories, in the order of `kept`. @throws RangeError where the run has lost one */
  async recall(kept: readonly Kept[]): Promise<Replayed[]> {
    const absent = kept.filter(({ episode }) => !this.#groups.has(keyText(episode)));
    if (absent.length > 0) this.add(await this.#read(absent.map(({ episode }) => episode)));
    const groups = new Set(kept.flatMap(({ episode }) => this.#groups.get(keyText(episode)) ?? []));
    const found = new Map(
      roleGroups([...groups]).flatMap(({ role, members }) =>
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
  keepOnly(kept: readonly Kept[]): void {
    const wanted = new Set(kept.map(({ episode }) => keyText(episode)));
    for (const name of this.#groups.keys()) if (!wanted.has(name)) this.#groups.delete(name);
  }
}

const placeOf = (key: EpisodeKey, role: string): string => `${keyText(key)}/${role}`;
