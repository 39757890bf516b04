/** Where a row comes from, as files of ours say it; a row of any other file is of kind `file`. */

import type { RowSource } from './row.ts';
import {
  fieldsOf,
  isAbsent,
  listOf,
  numberOf,
  presentIn,
  RowProblem,
  textOf,
  wholeOf,
} from './row-problem.ts';

const KINDS: readonly unknown[] = [
  'eval',
  'gateway',
  'run',
  'annotation',
  'file',
] satisfies RowSource['kind'][];

const TEXTS = [
  'by',
  'run',
  'name',
  'environment',
  'split',
  'label',
  'role',
  'pair',
  'stop',
] as const satisfies readonly (keyof RowSource)[];

/** Other datasets often have a column `source`, too: a text. @throws RowProblem */
export function readSource(value: unknown): RowSource {
  if (isAbsent(value)) return { kind: 'file' };
  if (typeof value === 'string') return { kind: 'file', name: value };
  const { episode, ...fields } = presentIn(fieldsOf(value, 'source'));
  if (!KINDS.includes(fields.kind)) return { kind: 'file' };
  for (const name of TEXTS) if (fields[name] !== undefined) textOf(fields[name], `source.${name}`);
  if (fields.turns !== undefined)
    for (const turn of listOf(fields.turns, 'source.turns')) wholeOf(turn, 'source.turns');
  return {
    ...(fields as unknown as RowSource),
    ...(!isAbsent(episode) && { episode: episodeOf(episode) }),
  };
}

function episodeOf(value: unknown): NonNullable<RowSource['episode']> {
  const key = presentIn(fieldsOf(value, 'source.episode'));
  for (const name of ['step', 'group', 'member']) numberOf(key[name], `source.episode.${name}`);
  const { task } = key;
  if (task !== undefined && typeof task !== 'number' && typeof task !== 'string')
    throw new RowProblem('source.episode.task', task, 'a number or text');
  return key as unknown as NonNullable<RowSource['episode']>;
}
