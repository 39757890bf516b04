/** Reads stored episodes: the index for what there is, and a range of bytes for each group that is asked for. */

import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Episode, EpisodeKey, Group } from '../../core/episode.ts';
import type { Generation } from '../generations.ts';
import { groupOf, invalidRollouts } from './episode-line.ts';
import type { IndexRecord } from './index-record.ts';
import { openIndex, readHeader } from './reindex.ts';
import type { RolloutIndex } from './rollout-index.ts';
import { readMember, type ShardHeader } from './shard.ts';
import { type Shard, shardFile } from './shard-names.ts';

/** What of a record says where its group lies. */
export type GroupPlace = Pick<IndexRecord, 'shard' | 'offset' | 'length'>;

export class RolloutReader {
  readonly index: RolloutIndex;
  readonly #folder: string;

  private constructor(folder: string, index: RolloutIndex) {
    this.#folder = folder;
    this.index = index;
  }

  /** A missing or foreign index is made from the shards, in memory; so are the records of files that it lacks. */
  static open(folder: string, generations: readonly Generation[] = []): RolloutReader {
    return new RolloutReader(folder, openIndex(folder, generations));
  }

  /**
   * The group whose line a record is about, with all its members.
   *
   * @throws TurnwiseError `rollouts-invalid` where the bytes are not that group
   */
  async readGroup({ shard, offset, length }: GroupPlace): Promise<Group> {
    const name = shardFile(shard);
    const place = `${name}, byte ${offset}`;
    const stored = await readMember(await this.#bytes(shard, offset, length), place);
    const group = groupOf(stored);
    if (!group) throw invalidRollouts(place, 'no episodes');
    return group;
  }

  /** The one episode that a record is about. Throws as `readGroup`. */
  async readEpisode(record: IndexRecord): Promise<Episode> {
    const episode = (await this.readGroup(record)).members[record.line];
    const { step, group, member } = record;
    const { key } = episode ?? {};
    if (key && key.step === step && key.group === group && key.member === member) return episode!;
    const place = `${shardFile(record.shard)}, byte ${record.offset}, line ${record.line + 1}`;
    const seen = key ? `episode ${nameOf(key)}` : 'no such line';
    throw invalidRollouts(place, seen, undefined, `episode ${nameOf(record)}`);
  }

  /** Groups of a training step, an evaluation or recorded episodes, one after another as they are asked for. */
  async *groups(shard: Shard): AsyncIterable<Group> {
    for (const place of placesOf(this.index.inShard(shard))) yield await this.readGroup(place);
  }

  /** All groups of an evaluation that were played in one way. */
  async *evaluation(shard: Shard, label: 'sampled' | 'greedy'): AsyncIterable<Group> {
    const records = this.index.inShard(shard).filter((record) => record.label === label);
    for (const place of placesOf(records)) yield await this.readGroup(place);
  }

  /**
   * Training episodes by their keys, each as part of its group as it was stored last; groups in the order in which the
   * keys first name them. Keys of which nothing is stored are left out.
   */
  async read(keys: readonly EpisodeKey[]): Promise<Group[]> {
    const wanted = new Set(keys.map(nameOf));
    const records = this.index.filter(
      (record) => (record.label === 'training' || record.label === 'recorded') && wanted.has(nameOf(record)),
    );
    const byName = new Map(records.map((record) => [nameOf(record), record]));
    const found = keys.flatMap((key) => byName.get(nameOf(key)) ?? []);
    return Promise.all(placesOf(found).map((place) => this.readGroup(place)));
  }

  /** What the file of a shard says of itself. @throws TurnwiseError `rollouts-invalid` */
  async header(shard: Shard): Promise<ShardHeader> {
    let header: ShardHeader | undefined;
    try {
      header = readHeader(join(this.#folder, shardFile(shard)));
    } catch (cause) {
      throw invalidRollouts(shardFile(shard), (cause as Error).message, cause);
    }
    if (!header) throw invalidRollouts(shardFile(shard), 'no header that this version of Turnwise reads');
    return header;
  }

  async #bytes(shard: Shard, offset: number, length: number): Promise<Uint8Array> {
    const path = join(this.#folder, shardFile(shard));
    try {
      const file = await open(path, 'r');
      try {
        const buffer = Buffer.alloc(length);
        const { bytesRead } = await file.read(buffer, 0, length, offset);
        return buffer.subarray(0, bytesRead);
      } finally {
        await file.close();
      }
    } catch (cause) {
      throw invalidRollouts(shardFile(shard), (cause as Error).message, cause);
    }
  }
}

const nameOf = ({
  split,
  step,
  group,
  member,
}: Pick<EpisodeKey, 'split' | 'step' | 'group' | 'member'>): string => `${split}/${step}/${group}/${member}`;

/** Places of groups, each once, in the order in which records first name them. */
function placesOf(records: readonly IndexRecord[]): GroupPlace[] {
  const places = new Map<string, GroupPlace>();
  for (const { shard, offset, length } of records) {
    const name = `${shard}/${offset}`;
    if (!places.has(name)) places.set(name, { shard, offset, length });
  }
  return [...places.values()];
}
