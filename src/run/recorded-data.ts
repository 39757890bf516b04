/** Where episodes to learn from come from: the scripts of this run, another run, or a file. */

import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Group } from '../core/episode.ts';
import { TurnwiseError } from '../core/errors.ts';
import { readEpisodeFile } from '../store/rollouts/read-episodes.ts';
import { trainingShard } from '../store/rollouts/shard-names.ts';
import { RunDirectory } from '../store/run-directory.ts';
import { runNames } from '../store/runs.ts';
import type { Learner } from '../train/kit/learner.ts';
import { version } from './version.ts';

/**
 * The setting `data` as `config.json` keeps it: a file by its absolute path, unless a run has that name.
 *
 * @throws TurnwiseError `file-unknown`
 */
export function dataPlace(root: string, data: string): string {
  if (data === '' || data === 'demonstrations' || runNames(root).includes(data)) return data;
  if (isFile(data)) return resolve(data);
  if (!/[/\\]/.test(data)) return data;
  throw new TurnwiseError('file-unknown', {
    what: `There is no file ${data}`,
    seen: resolve(data),
    fields: { path: data },
  });
}

/**
 * What the setting `data` names: the demonstrations of this run; all episodes that another run stored while it trained; or
 * the training episodes of a file. Nothing where it is empty.
 *
 * @throws TurnwiseError `run-unknown`, `rollouts-missing`, `rollouts-invalid`
 */
export async function dataOf(
  root: string,
  { config, world }: Pick<Learner, 'config' | 'world'>,
  demonstrations: readonly Group[],
): Promise<readonly Group[]> {
  const { data } = config;
  if (data === '') return [];
  if (data === 'demonstrations') return demonstrations;
  return /[/\\]/.test(data) ? groupsOfFile(data, world.name) : groupsOfRun(root, data, world.name);
}

async function groupsOfRun(root: string, name: string, world: string): Promise<Group[]> {
  const reader = RunDirectory.openForReading({ root, name, version }).readRollouts();
  const groups: Group[] = [];
  for (const step of reader.index.steps()) {
    for await (const group of reader.groups(trainingShard(step))) groups.push(group);
  }
  if (worldOf(groups[0]) === world) return groups;
  throw nothingHere(`Run "${name}"`, groups, world, {
    next: 'Name a run of this environment that was trained with rolloutLog above 0',
    fields: { run: name },
  });
}

function groupsOfFile(path: string, world: string): readonly Group[] {
  const groups = readEpisodeFile(path)?.groups ?? [];
  const own = groups.filter((group) => worldOf(group) === world);
  // Test tasks that were learned from would measure nothing.
  const practised = own.filter(({ members }) => members[0]?.key.split === 'train');
  if (practised.length > 0) return practised;
  throw nothingHere(path, groups, world, {
    next:
      own.length > 0
        ? 'Record training tasks, with --split train'
        : 'Name a shard of a run, or a file that --record wrote',
    fields: { path },
  });
}

function nothingHere(
  where: string,
  groups: readonly Group[],
  world: string,
  rest: { readonly next: string; readonly fields: Readonly<Record<string, string>> },
): TurnwiseError {
  const key = groups[0]?.members[0]?.key;
  return new TurnwiseError('rollouts-missing', {
    what: `${where} has no episodes that can be learned from here`,
    seen: key === undefined ? 'no stored steps' : `${key.split} episodes of ${key.environment}`,
    allowed: `training episodes of ${world}`,
    ...rest,
  });
}

const worldOf = (group: Group | undefined): string | undefined => group?.members[0]?.key.environment;
const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile();
