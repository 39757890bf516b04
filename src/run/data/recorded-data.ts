/** Where episodes to learn from come from: another run, or a file. */

import { existsSync, readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Episode, Group } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { Message } from '../../core/messages.ts';
import { isTrainable, type StopReason } from '../../core/stop.ts';
import { type EpisodesOfRows, episodesOfRows } from '../../data/episodes-of-rows.ts';
import { readRows } from '../../data/read-rows.ts';
import { isPreference, type Row } from '../../data/row.ts';
import { AGENT } from '../../env/session.ts';
import type { World } from '../../env/world.ts';
import { readEpisodeFile } from '../../store/rollouts/read-episodes.ts';
import { headerOf } from '../../store/rollouts/shard.ts';
import { trainingShard } from '../../store/rollouts/shard-names.ts';
import { RunDirectory } from '../../store/run-directory.ts';
import { runNames } from '../../store/runs.ts';
import { version } from '../version.ts';

/**
 * The setting `data` as `config.json` keeps it: a file by its absolute path, unless a run has that name.
 *
 * @throws TurnwiseError `file-unknown`
 */
export function dataPlace(root: string, data: string): string {
  if (data === '' || data === 'demonstrations' || runNames(root).includes(data)) return data;
  if (isFile(data)) return resolve(data);
  if (!/[/\\]/.test(data) && !/\.jsonl?(\.gz)?$/.test(data)) return data;
  throw new TurnwiseError('file-unknown', {
    what: `There is no file ${data}`,
    seen: resolve(data),
    fields: { path: data },
  });
}

/** Whether `data` names a run or a file, rather than nothing or the demonstrations of the run itself. */
export const namesRecorded = (data: string): boolean => data !== '' && data !== 'demonstrations';

/** Recorded episodes, before anybody knows in which words they are learned. */
export interface RecordedData {
  readonly from: string;
  /** Those that are not learned from, by reason. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** Hashes of the tokenizers in which a teacher scored some of them. */
  readonly taughtIn: readonly string[];
  /** The episodes, with answers as this writes them; recorded ids are used where they are of this tokenizer. */
  read(write: (message: Message) => string, tokenizer?: string): EpisodesOfRows;
}

/**
 * What the setting `data` names: all episodes that another run stored while it trained; or those of a file.
 *
 * @throws TurnwiseError `run-unknown`, `rollouts-missing`, `rollouts-invalid`, `data-invalid`
 */
export async function recordedData(root: string, data: string, world: World): Promise<RecordedData> {
  if (!/[/\\]/.test(data)) return plain(data, await groupsOfRun(root, data, world.name), {});
  if (headerOf(readFileSync(data))) return shard(data, world);
  return dataset(data, world);
}

const plain = (from: string, groups: readonly Group[], leftOut: RecordedData['leftOut']): RecordedData => ({
  from,
  leftOut,
  taughtIn: [],
  read: () => ({ groups, exact: new Set<Episode>() }),
});

async function groupsOfRun(root: string, name: string, world: string): Promise<Group[]> {
  const reader = RunDirectory.openForReading({ root, name, version }).readRollouts();
  const groups: Group[] = [];
  for (const step of reader.index.steps()) {
    for await (const group of reader.groups(trainingShard(step))) groups.push(group);
  }
  const key = groups[0]?.members[0]?.key;
  if (key?.environment === world) return groups;
  throw nothingHere(`Run "${name}"`, world, {
    seen: key === undefined ? 'no stored steps' : `${key.split} episodes of ${key.environment}`,
    next: 'Name a run of this environment that was trained with rolloutLog above 0',
    fields: { run: name },
  });
}

function shard(path: string, world: World): RecordedData {
  const { groups } = readEpisodeFile(path)!;
  const key = groups[0]?.members[0]?.key;
  if (key?.environment === world.name && key.split === 'train') return plain(path, groups, {});
  throw nothingHere(path, world.name, {
    seen: key === undefined ? 'no stored steps' : `${key.split} episodes of ${key.environment}`,
    next: 'Name a training shard of a run of this environment',
    fields: { path },
  });
}

function dataset(path: string, world: World): RecordedData {
  const all = readRows(path).map(({ row }) => row);
  const leftOut: Record<string, number> = {};
  const rows = all.filter((row) => {
    const why = reasonAgainst(row, world);
    if (why !== undefined) leftOut[why] = (leftOut[why] ?? 0) + 1;
    return why === undefined;
  });
  if (rows.length === 0) {
    const [reason] = Object.keys(leftOut);
    throw nothingHere(path, world.name, {
      seen: reason ?? 'no rows',
      next: reason?.includes('tasks of')
        ? 'Record training tasks, with --split train'
        : 'Name a file of conversations (docs/data.md)',
      fields: { path },
    });
  }
  return {
    from: path,
    leftOut,
    taughtIn: [
      ...new Set(
        rows.flatMap((row) =>
          isPreference(row) || !row.tokens?.top ? [] : (row.tokens.tokenizer ?? 'unknown'),
        ),
      ),
    ],
    read: (write, tokenizer) =>
      episodesOfRows(rows, {
        environment: world.name,
        role: world.roles[0] ?? AGENT,
        write,
        ...(tokenizer !== undefined && { tokenizer }),
      }),
  };
}

/** Why a row is not learned from here, in words; test tasks that were learned from would measure nothing. */
function reasonAgainst(row: Row, world: World): string | undefined {
  const { environment, split = 'train', role, stop = 'done' } = row.source;
  if (environment !== undefined && environment !== world.name) return `rows of ${environment}`;
  if (split !== 'train') return `rows of tasks of the ${split} split`;
  if (!isTrainable(stop as StopReason)) return `rows of episodes that ended as ${stop}`;
  if (role !== undefined && !world.roles.includes(role)) return `rows of the role ${role}`;
  const answers = isPreference(row) ? row.chosen : row.messages;
  return answers.some((message) => message.role === 'assistant') ? undefined : 'rows without an answer';
}

function nothingHere(
  where: string,
  world: string,
  rest: {
    readonly seen: string;
    readonly next: string;
    readonly fields: Readonly<Record<string, string>>;
  },
): TurnwiseError {
  return new TurnwiseError('rollouts-missing', {
    what: `${where} has no episodes that can be learned from here`,
    allowed: `training episodes of ${world}`,
    ...rest,
  });
}

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile();
