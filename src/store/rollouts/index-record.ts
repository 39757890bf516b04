/** One record of `rollouts/index.bin`: 64 bytes, little-endian, about one role of one episode. Layout: docs/rollouts.md. */

import type { Split } from '../../core/episode.ts';
import type { StopReason } from '../../core/stop.ts';
import type { EpisodeLabel } from './episode-line.ts';
import type { Shard } from './shard-names.ts';

/** Name and bytes of the fields, in order. */
const FIELDS = [
  ['shard', 4],
  ['offset', 6],
  ['length', 4],
  ['line', 2],
  ['step', 4],
  ['group', 4],
  ['member', 2],
  ['role', 1],
  ['stop', 1],
  ['flags', 2],
  ['turns', 2],
  ['tokens', 4],
  ['return', 4],
  ['seconds', 4],
  ['surprise', 4],
  ['advantage', 4],
  ['policyVersions', 4],
  ['taskHash', 8],
] as const;

type FieldName = (typeof FIELDS)[number][0];

export const fieldOffsets = Object.fromEntries(
  FIELDS.map(([name], index) => [name, FIELDS.slice(0, index).reduce((sum, [, bytes]) => sum + bytes, 0)]),
) as Readonly<Record<FieldName, number>>;
export const recordBytes = FIELDS.reduce((sum, [, bytes]) => sum + bytes, 0);

/** Bits of `flags`. */
export const FLAGS = {
  success: 1,
  failed: 2,
  branched: 4,
  truncated: 8,
  annotated: 16,
  replaced: 32,
} as const;
export type Flag = keyof typeof FLAGS;

const SPLITS: readonly Split[] = ['train', 'validation', 'test'];
const LABELS: readonly EpisodeLabel[] = ['training', 'sampled', 'greedy', 'recorded'];
/** By their number in the file: only ever added to, at the end. */
const STOPS: readonly StopReason[] = [
  'done',
  'turn-limit',
  'token-limit',
  'context-overflow',
  'invalid-action',
  'early-stop',
  'timeout',
  'cancelled',
  'failed:policy',
  'failed:environment',
  'failed:tool',
  'failed:grader',
  'failed:engine',
];

/** Roles that the four bits of a record can name; further ones of an episode are not in the index. */
export const rolesPerEpisode = 16;

export interface IndexFields {
  readonly shard: Shard;
  /** Of the group's member in the shard, compressed. */
  readonly offset: number;
  readonly length: number;
  /** Of the episode in the member, from 0. */
  readonly line: number;
  /** Of the episode's key. */
  readonly step: number;
  readonly group: number;
  readonly member: number;
  readonly split: Split;
  /** Place among the sorted names of the episode's roles. */
  readonly role: number;
  readonly label: EpisodeLabel;
  readonly stop: StopReason;
  readonly flags: number;
  readonly turns: number;
  readonly tokens: number;
  readonly return: number;
  readonly seconds: number;
  readonly surprise: number;
  readonly advantage: number;
  readonly oldestVersion: number;
  readonly newestVersion: number;
  readonly taskHash: bigint;
}

const at = fieldOffsets;

export function writeRecord(fields: IndexFields): Uint8Array {
  const view = new DataView(new ArrayBuffer(recordBytes));
  view.setUint32(at.shard, fields.shard, true);
  view.setUint32(at.offset, fields.offset >>> 0, true);
  view.setUint16(at.offset + 4, Math.floor(fields.offset / 2 ** 32), true);
  view.setUint32(at.length, fields.length, true);
  view.setUint16(at.line, fields.line, true);
  view.setUint32(at.step, fields.step, true);
  view.setUint32(at.group, fields.group, true);
  view.setUint16(at.member, fields.member, true);
  const [split, label] = [SPLITS.indexOf(fields.split), LABELS.indexOf(fields.label)];
  view.setUint8(at.role, fields.role | (split << 4) | (label << 6));
  view.setUint8(at.stop, STOPS.indexOf(fields.stop));
  view.setUint16(at.flags, fields.flags, true);
  view.setUint16(at.turns, Math.min(fields.turns, 2 ** 16 - 1), true);
  view.setUint32(at.tokens, fields.tokens, true);
  view.setFloat32(at.return, fields.return, true);
  view.setFloat32(at.seconds, fields.seconds, true);
  view.setFloat32(at.surprise, fields.surprise, true);
  view.setFloat32(at.advantage, fields.advantage, true);
  view.setInt16(at.policyVersions, shortOf(fields.oldestVersion - fields.step), true);
  view.setInt16(at.policyVersions + 2, shortOf(fields.newestVersion - fields.step), true);
  view.setBigUint64(at.taskHash, fields.taskHash, true);
  return new Uint8Array(view.buffer);
}

const shortOf = (value: number): number => Math.max(-(2 ** 15), Math.min(2 ** 15 - 1, value));

/** A record where it lies: a field is read when it is asked for. */
export class IndexRecord implements IndexFields {
  readonly #view: DataView;
  readonly #at: number;

  constructor(view: DataView, start: number) {
    this.#view = view;
    this.#at = start;
  }

  get shard(): Shard {
    return this.#view.getUint32(this.#at + at.shard, true);
  }
  get offset(): number {
    const low = this.#view.getUint32(this.#at + at.offset, true);
    return low + this.#view.getUint16(this.#at + at.offset + 4, true) * 2 ** 32;
  }
  get length(): number {
    return this.#view.getUint32(this.#at + at.length, true);
  }
  get line(): number {
    return this.#view.getUint16(this.#at + at.line, true);
  }
  get step(): number {
    return this.#view.getUint32(this.#at + at.step, true);
  }
  get group(): number {
    return this.#view.getUint32(this.#at + at.group, true);
  }
  get member(): number {
    return this.#view.getUint16(this.#at + at.member, true);
  }
  /** Role, split and label in one byte. */
  get roleByte(): number {
    return this.#view.getUint8(this.#at + at.role);
  }
  get role(): number {
    return this.roleByte & 15;
  }
  get split(): Split {
    return SPLITS[(this.roleByte >> 4) & 3] ?? 'train';
  }
  get label(): EpisodeLabel {
    return LABELS[this.roleByte >> 6]!;
  }
  get stop(): StopReason {
    return STOPS[this.#view.getUint8(this.#at + at.stop)] ?? 'done';
  }
  get flags(): number {
    return this.#view.getUint16(this.#at + at.flags, true);
  }
  has(flag: Flag): boolean {
    return (this.flags & FLAGS[flag]) !== 0;
  }
  get turns(): number {
    return this.#view.getUint16(this.#at + at.turns, true);
  }
  get tokens(): number {
    return this.#view.getUint32(this.#at + at.tokens, true);
  }
  get return(): number {
    return this.#view.getFloat32(this.#at + at.return, true);
  }
  get seconds(): number {
    return this.#view.getFloat32(this.#at + at.seconds, true);
  }
  get surprise(): number {
    return this.#view.getFloat32(this.#at + at.surprise, true);
  }
  get advantage(): number {
    return this.#view.getFloat32(this.#at + at.advantage, true);
  }
  get oldestVersion(): number {
    return this.step + this.#view.getInt16(this.#at + at.policyVersions, true);
  }
  get newestVersion(): number {
    return this.step + this.#view.getInt16(this.#at + at.policyVersions + 2, true);
  }
  get taskHash(): bigint {
    return this.#view.getBigUint64(this.#at + at.taskHash, true);
  }
}
