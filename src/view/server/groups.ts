/** Groups as they are read: a range of bytes each, the last few kept, and none that would fill the memory. */

import type { Group } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { ShardHeader } from '../../store/rollouts/shard.ts';
import { findGroup, groupsAt, type StoredGroup, shardAt } from './step-episodes.ts';
import { markOf, type WatchedRun } from './watched-run.ts';

/** Of one group, compressed. What it holds is some twenty times as much. */
const mostGroupBytes = 16 * 2 ** 20;
/** Of a whole step, compressed: credit over more is computed over the group alone. */
const mostStepBytes = 16 * 2 ** 20;
const kept = 32;

export interface ReadGroup {
  readonly stored: StoredGroup;
  readonly group: Group;
}

export class Groups {
  readonly #cache = new Map<string, Promise<Group>>();

  /** @throws TurnwiseError `episode-unknown`, `rollouts-invalid`, `episode-too-large` */
  async read(run: WatchedRun, place: string, group: number, label?: string): Promise<ReadGroup> {
    const stored = findGroup(run.places().index, place, group, label);
    return { stored, group: await this.#load(run, stored) };
  }

  /** All training groups of a step; undefined where they are too many bytes. */
  async step(run: WatchedRun, place: string): Promise<Group[] | undefined> {
    const groups = groupsAt(run.places().index, shardAt(place));
    if (groups.reduce((sum, { length }) => sum + length, 0) > mostStepBytes) return undefined;
    const { label } = groups[0] ?? {};
    const reader = run.rollouts();
    return Promise.all(groups.filter((one) => one.label === label).map((one) => reader.readGroup(one)));
  }

  header(run: WatchedRun, place: string): Promise<ShardHeader> {
    return run.rollouts().header(shardAt(place));
  }

  #load(run: WatchedRun, stored: StoredGroup): Promise<Group> {
    const { shard, offset, length } = stored;
    if (length > mostGroupBytes) throw tooLarge(length);
    const name = `${run.name} ${shard} ${offset} ${length} ${markOf(run.indexPath)}`;
    let loaded = this.#cache.get(name);
    if (!loaded) {
      loaded = run.rollouts().readGroup(stored);
      loaded.catch(() => this.#cache.delete(name));
      const oldest = this.#cache.size >= kept ? this.#cache.keys().next().value : undefined;
      if (oldest !== undefined) this.#cache.delete(oldest);
    } else {
      this.#cache.delete(name);
    }
    this.#cache.set(name, loaded);
    return loaded;
  }
}

function tooLarge(bytes: number): TurnwiseError {
  return new TurnwiseError('episode-too-large', {
    what: 'This group is too large to be shown',
    seen: `${Math.round(bytes / 2 ** 20)} MB, compressed`,
    allowed: `${mostGroupBytes / 2 ** 20} MB`,
    next: 'Read it with: zcat runs/NAME/rollouts/STEP.jsonl.gz',
    fields: { bytes },
  });
}
