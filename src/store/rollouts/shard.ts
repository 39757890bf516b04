/**
 * One file of stored episodes: gzip members, one after another, the first with the header and every other with one group,
 * so that a range of bytes can be read alone and `zcat` reads the whole.
 */

import { promisify } from 'node:util';
import { crc32, gunzip, gzip, gzipSync, inflateRawSync } from 'node:zlib';
import type { StepCredit } from '../../core/episode.ts';
import { exactJson } from '../../core/json/exact-json.ts';
import type { Json } from '../../core/json/json.ts';
import { invalidRollouts, parseEpisode, type StoredEpisode } from './episode-line.ts';

export const rolloutsFormatVersion = 2;

/** What the episodes of a run were played in, and with which tokens. */
export interface ShardOrigin {
  readonly world: { readonly source: string; readonly options: Json; readonly version: string | null };
  /** Hash of the `tokenizer.json` beside it; null where nobody here knows the tokens. */
  readonly tokenizer: string | null;
}

export interface ShardHeader extends ShardOrigin {
  readonly format: 'turnwise-rollouts';
  readonly formatVersion: number;
  /** Of the run that wrote it: 1, and one more after every resume. */
  readonly generation: number;
  /** How the credit in a training step was computed; absent where its recipe learns without. */
  readonly credit?: StepCredit;
}

/** Where a member lies in its file, compressed. */
export interface MemberRange {
  readonly offset: number;
  readonly length: number;
}

/** A seventh more bytes than the usual level, in a third of its time. */
const COMPRESSION = { level: 3 };

/** Of shorter texts, the way to another thread and back takes longer than compressing them here. In characters. */
const worthThread = 2 ** 16;

const deflate = promisify(gzip);
const inflate = promisify(gunzip);

/** Lines as one member. */
export async function compressLines(lines: readonly string[]): Promise<Buffer> {
  const text = `${lines.join('\n')}\n`;
  return text.length < worthThread ? gzipSync(text, COMPRESSION) : deflate(text, COMPRESSION);
}

export function compressHeader(
  origin: ShardOrigin,
  generation: number,
  credit?: StepCredit,
): Promise<Buffer> {
  const header: ShardHeader = {
    format: 'turnwise-rollouts',
    formatVersion: rolloutsFormatVersion,
    generation,
    ...origin,
    ...(credit && { credit }),
  };
  return compressLines([exactJson(header)]);
}

/** The episodes of one member. @throws TurnwiseError `rollouts-invalid` */
export async function readMember(bytes: Uint8Array, place: string): Promise<StoredEpisode[]> {
  let text: string;
  try {
    text = (await inflate(bytes)).toString('utf8');
  } catch (cause) {
    throw invalidRollouts(place, (cause as Error).message, cause);
  }
  return episodesOf(text, place);
}

function episodesOf(text: string, place: string): StoredEpisode[] {
  return text
    .split('\n')
    .flatMap((line, index) => (line === '' ? [] : [parseEpisode(line, `${place}, line ${index + 1}`)]));
}

export interface ShardMember extends MemberRange {
  readonly episodes: readonly StoredEpisode[];
}

/** The header of a shard, from its first bytes or all of them; undefined where it has none that this version reads. */
export function headerOf(bytes: Uint8Array): ShardHeader | undefined {
  const first = memberAt(bytes, 0);
  if (!first) return undefined;
  try {
    const header = JSON.parse(first.text) as Partial<ShardHeader> | null;
    const { format, formatVersion } = header ?? {};
    const known = format === 'turnwise-rollouts' && formatVersion === rolloutsFormatVersion;
    return known ? (header as ShardHeader) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The groups of a shard, read from its start without an index. Ends at the first member that is cut or damaged.
 *
 * @throws TurnwiseError `rollouts-invalid` where a whole member holds something else than episodes
 */
export function* membersOf(bytes: Uint8Array, place: string): Iterable<ShardMember> {
  for (let at = memberAt(bytes, 0)?.length ?? bytes.length; at < bytes.length; ) {
    const member = memberAt(bytes, at);
    if (!member) return;
    const { length, text } = member;
    yield { offset: at, length, episodes: episodesOf(text, `${place}, byte ${at}`) };
    at += length;
  }
}

/** Bytes before and after the compressed data of a member without a name or a comment. */
const [headBytes, tailBytes] = [10, 8];

/** The member that begins at a byte; undefined where none does, or where it is cut or damaged. */
function memberAt(bytes: Uint8Array, offset: number): { length: number; text: string } | undefined {
  const head = bytes.subarray(offset, offset + headBytes);
  const plainGzip = head.length === headBytes && head[0] === 0x1f && head[1] === 0x8b && head[3] === 0;
  if (!plainGzip) return undefined;
  try {
    const { buffer, engine } = inflateRawSync(bytes.subarray(offset + headBytes), {
      info: true,
    }) as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
    const end = offset + headBytes + engine.bytesWritten;
    if (end + tailBytes > bytes.length) return undefined;
    const tail = new DataView(bytes.buffer, bytes.byteOffset + end, tailBytes);
    if (tail.getUint32(0, true) !== crc32(buffer)) return undefined;
    return { length: end + tailBytes - offset, text: buffer.toString('utf8') };
  } catch {
    return undefined;
  }
}
