/** Episodes that a run learns from without playing: scripted ones, or those that another run stored. */

import type { Group } from '../core/episode.ts';
import { TurnwiseError } from '../core/errors.ts';
import { isTrainable } from '../core/stop.ts';
import { roleGroups } from '../core/trajectory.ts';
import { RunDirectory } from '../store/run-directory.ts';
import { trainingShard } from '../store/shard-names.ts';
import { asTrained, renderDemonstrations } from '../synth/demonstrations.ts';
import type { Kept } from '../train/learn.ts';
import type { Learner } from '../train/learner.ts';
import { version } from './version.ts';

/**
 * The groups in the words of this run's model, under keys of their own: step 0, and groups numbered one after another.
 * Recorded actions are learned from whoever took them, at a log-probability that nobody knows and nothing reads.
 */
export function recordedGroups(
  { renderer, context }: Pick<Learner, 'renderer' | 'context'>,
  found: readonly Group[],
): Group[] {
  return found
    .map((group) => ({
      ...group,
      members: group.members.filter(({ stop, transitions }) => isTrainable(stop) && transitions.length > 0),
    }))
    .filter(({ members }) => members.length > 0)
    .map((group, number): Group => {
      const { members } = renderDemonstrations(group, renderer, context);
      return {
        step: 0,
        group: number,
        members: members.map((episode, member) => {
          const trained = asTrained(episode);
          return { ...trained, key: { ...trained.key, step: 0, group: number, member } };
        }),
      };
    });
}

/**
 * What the setting `data` names: the demonstrations of this run, or all episodes that another run stored while it trained;
 * nothing where it is empty.
 *
 * @throws TurnwiseError `run-unknown`, `rollouts-missing`, `rollouts-invalid`
 */
export async function dataOf(
  root: string,
  { config, world }: Pick<Learner, 'config' | 'world'>,
  demonstrations: readonly Group[],
): Promise<readonly Group[]> {
  if (config.data === '') return [];
  if (config.data === 'demonstrations') return demonstrations;
  const reader = RunDirectory.openForReading({ root, name: config.data, version }).readRollouts();
  const groups: Group[] = [];
  for (const step of reader.index.steps()) {
    for await (const group of reader.groups(trainingShard(step))) groups.push(group);
  }
  const environment = groups[0]?.members[0]?.key.environment;
  if (environment === world.name) return groups;
  throw new TurnwiseError('rollouts-missing', {
    what: `Run "${config.data}" has no episodes that can be learned from here`,
    seen: environment === undefined ? 'no stored steps' : `episodes of ${environment}`,
    allowed: `stored episodes of ${world.name}`,
    next: 'Name a run of this environment that was trained with rolloutLog above 0',
    fields: { run: config.data },
  });
}

/** All of it, as the memory of a run that learns from it. */
export function keptOf(groups: readonly Group[]): Kept[] {
  return roleGroups(groups).flatMap(({ members }) =>
    members.map(({ episode, role }) => ({ episode: episode.key, role })),
  );
}
