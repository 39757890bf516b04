/** Rows from wherever episodes are: a dataset file of any form, a shard, or a run with what it stored while it trained. */

import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Group } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { episodesOfRows } from '../../data/episodes-of-rows.ts';
import { checkRows, isRow, parseRow, readRows } from '../../data/read-rows.ts';
import type { Row } from '../../data/row.ts';
import { RowProblem, rowInvalid } from '../../data/row-problem.ts';
import { rowsOfGroup } from '../../data/rows-of-episode.ts';
import { rowLine } from '../../data/write-rows.ts';
import { AGENT } from '../../env/session.ts';
import { taggedText } from '../../model/chat/renderer.ts';
import { readEpisodeFile } from '../../store/rollouts/read-episodes.ts';
import { trainingShard } from '../../store/rollouts/shard-names.ts';
import { RunDirectory } from '../../store/run-directory.ts';
import { runNames } from '../../store/runs.ts';
import { keptTokenizerHash } from '../../store/tokenizer-file.ts';
import { version } from '../version.ts';

/**
 * The rows of a file or a run.
 *
 * @param place a path, or the name of a run in `root`
 * @throws TurnwiseError `file-unknown`, `data-invalid`, `rollouts-invalid`
 */
export async function rowsAt(place: string, root: string): Promise<readonly Row[]> {
  if (!existsSync(place)) {
    if (runNames(root).includes(place)) return rowsOfRun(place, root);
    throw new TurnwiseError('file-unknown', {
      what: `There is no file and no run ${place}`,
      allowed: 'a dataset file (JSON Lines), a shard of a run (.jsonl.gz), or the name of a run',
      fields: { path: place },
    });
  }
  const shard = readEpisodeFile(place);
  if (!shard) return readRows(place).map(({ row }) => row);
  const { tokenizer } = shard.header;
  return shard.groups.flatMap((group) =>
    rowsOfGroup(group, { kind: 'run', ...(tokenizer && { tokenizer }) }),
  );
}

async function rowsOfRun(name: string, root: string): Promise<Row[]> {
  const run = RunDirectory.openForReading({ root, name, version });
  run.readConfig(z.unknown());
  const reader = run.readRollouts();
  const tokenizer = keptTokenizerHash(run.path);
  const rows: Row[] = [];
  for (const step of reader.index.steps()) {
    const shard = trainingShard(step);
    for await (const group of reader.groups(shard))
      rows.push(...rowsOfGroup(group, { kind: 'run', run: name, ...(tokenizer && { tokenizer }) }));
  }
  return rows;
}

/** The rows of a place, and what is wrong with its other lines. */
export interface CheckedPlace {
  readonly rows: readonly Row[];
  readonly problems: readonly TurnwiseError[];
}

/**
 * Every row of a file, a shard or a run, the bad ones too. Episodes are good where the rows that they make can be read again.
 *
 * @throws TurnwiseError `file-unknown`; `rollouts-invalid` where stored episodes are broken
 */
export async function checkedRowsAt(place: string, root: string): Promise<CheckedPlace> {
  if (existsSync(place) && !readEpisodeFile(place)) {
    const { rows, errors } = checkRows(place);
    return { rows: rows.map(({ row }) => row), problems: errors };
  }
  const rows: Row[] = [];
  const problems: TurnwiseError[] = [];
  for (const [index, row] of (await rowsAt(place, root)).entries()) {
    try {
      rows.push(parseRow(rowLine(row)));
    } catch (error) {
      if (!(error instanceof RowProblem)) throw error;
      problems.push(rowInvalid(place, index + 1, error));
    }
  }
  return { rows, problems };
}

/** The groups of a dataset file; undefined where it is none. */
export function readDatasetGroups(path: string): { readonly groups: readonly Group[] } | undefined {
  const first = readFileSync(path, 'utf8').split('\n', 1)[0] ?? '';
  if (!isRow(first)) return undefined;
  const rows = readRows(path).map(({ row }) => row);
  return episodesOfRows(rows, { environment: 'file', role: AGENT, write: taggedText });
}
