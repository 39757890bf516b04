/** Where episodes to learn from come from: another run, or a file. */

import { existsSync, readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Episode, Group, Role } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { Message } from '../../core/messages.ts';
import { isTrainable, type StopReason } from '../../core/stop.ts';
import { type EpisodesOfRows, episodesOfRows } from '../../data/episodes-of-rows.ts';
import { readRows } from '../../data/read-rows.ts';
import { isPreference, type Row, type RowSource } from '../../data/row.ts';
import { AGENT } from '../../env/session.ts';
import type { World } from '../../env/world.ts';
import { readEpisodeFile } from '../../store/rollouts/read-episodes.ts';
import { headerOf } from '../../store/rollouts/shard.ts';
import { trainingShard } from '../../store/rollouts/shard-names.ts';
import { RunDirectory } from '../../store/run-directory.ts';
import { runNames } from '../../store/runs.ts';
import { keptTokenizerHash } from '../../store/tokenizer-file.ts';
import type { TrainConfig } from '../../train/config/config.ts';
import { version } from '../version.ts';
import { isLearnersRole, isOwnRole } from './learned-answers.ts';

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
  /** Whether a role of an episode is learned: of a run, those of its learners; of a file, all that the weights of this run play. */
  isLearned(episode: Episode, role: Role): boolean;
  /** The episodes, with answers as this writes them; recorded ids are used where they are of this tokenizer. */
  read(write: (message: Message) => string, tokenizer?: string): EpisodesOfRows;
}

/** The setting, and who sits where in the run that learns. */
type Learning = Pick<TrainConfig, 'data' | 'players' | 'seats'>;

/**
 * What the setting `data` names: all episodes that another run stored while it trained; or those of a file.
 *
 * @throws TurnwiseError `run-unknown`, `rollouts-missing`, `rollouts-invalid`, `data-invalid`
 */
export async function recordedData(root: string, config: Learning, world: World): Promise<RecordedData> {
  const { data } = config;
  const isOwn = (role: Role): boolean => isOwnRole(role, world, config);
  if (!/[/\\]/.test(data)) return played(data, await episodesOfRun(root, data, world.name), isOwn);
  if (headerOf(readFileSync(data))) return played(data, shard(data, world), isOwn);
  return dataset(data, world, isOwn);
}

/** Episodes that a run has stored, and the hash of the tokenizer that gives their ids a meaning. */
interface Stored {
  readonly groups: readonly Group[];
  readonly tokenizer: string | null | undefined;
}

const played = (
  from: string,
  { groups, tokenizer }: Stored,
  isOwn: (role: Role) => boolean,
): RecordedData => ({
  from,
  leftOut: {},
  taughtIn: [],
  isLearned: (episode, role) => isOwn(role) && isLearnersRole(episode, role),
  read: (_, own) => {
    const isSame = own !== undefined && tokenizer === own;
    return { groups, exact: new Set(isSame ? groups.flatMap(({ members }) => members) : []) };
  },
});

async function episodesOfRun(root: string, name: string, world: string): Promise<Stored> {
  const run = RunDirectory.openForReading({ root, name, version });
  const reader = run.readRollouts();
  const groups: Group[] = [];
  for (const step of reader.index.steps()) {
    for await (const group of reader.groups(trainingShard(step))) groups.push(group);
  }
  const key = groups[0]?.members[0]?.key;
  if (key?.environment === world) return { groups, tokenizer: keptTokenizerHash(run.path) };
  throw nothingHere(`Run "${name}"`, world, {
    seen: key === undefined ? 'no stored steps' : `${key.split} episodes of ${key.environment}`,
    next: 'Name a run of this environment that was trained with rolloutLog above 0',
    fields: { run: name },
  });
}

function shard(path: string, world: World): Stored {
  const { groups, header } = readEpisodeFile(path)!;
  const key = groups[0]?.members[0]?.key;
  if (key?.environment === world.name && key.split === 'train')
    return { groups, tokenizer: header.tokenizer };
  throw nothingHere(path, world.name, {
    seen: key === undefined ? 'no stored steps' : `${key.split} episodes of ${key.environment}`,
    next: 'Name a training shard of a run of this environment',
    fields: { path },
  });
}

function dataset(path: string, world: World, isOwn: (role: Role) => boolean): RecordedData {
  const all = readRows(path).map(({ row }) => row);
  const own = world.roles.filter(isOwn);
  const leftOut: Record<string, number> = {};
  const rows = all.filter((row) => {
    const why = reasonAgainst(row, world.name, own);
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
    isLearned: () => true,
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
        role: own[0] ?? AGENT,
        write,
        ...(tokenizer !== undefined && { tokenizer }),
      }),
  };
}

/** Why a row is not learned from here, in words; test tasks that were learned from would measure nothing. */
function reasonAgainst(row: Row, world: string, own: readonly Role[]): string | undefined {
  // Other libraries write null where they say nothing.
  const { environment, split, role, stop }: Nullable<RowSource> = row.source;
  if ((environment ?? world) !== world) return `rows of ${environment}`;
  if ((split ?? 'train') !== 'train') return `rows of tasks of the ${split} split`;
  if (!isTrainable((stop ?? 'done') as StopReason)) return `rows of episodes that ended as ${stop}`;
  if (role != null && !own.includes(role)) return `rows of the role ${role}`;
  const answers = isPreference(row) ? row.chosen : row.messages;
  return answers.some((message) => message.role === 'assistant') ? undefined : 'rows without an answer';
}

type Nullable<T> = { readonly [K in keyof T]: T[K] | null };

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
