/** Earlier episodes that join groups of the step: each a line of the group that it joins, with its key and without its old credit. */

import { badDefinition } from '../core/definition.ts';
import type { Episode, EpisodeKey, Group } from '../core/episode.ts';
import { keyText } from '../core/episode-key.ts';
import type { Insertion } from './curation.ts';

/** Groups that the run has stored, each with the episodes of these keys that it holds. */
export type ReadGroups = (keys: readonly EpisodeKey[]) => Promise<readonly Group[]>;

export interface Inserted {
  readonly groups: readonly Group[];
  /** Episodes that came along because others branched from them: nothing is learned from these. */
  readonly prefixes: readonly Episode[];
  /** Groups of inserted episodes alone. */
  readonly fresh: ReadonlySet<Group>;
}

/**
 * @param given the groups that the places of `insertions` count
 * @param subject whose insertions they are, for messages; `step` is the one that learns from them
 * @throws TurnwiseError `definition-invalid` for an episode that is there already, or that is not stored
 */
export async function insertEpisodes(
  groups: readonly Group[],
  given: readonly Group[],
  insertions: readonly Insertion[],
  read: ReadGroups,
  { step, subject }: { readonly step: number; readonly subject: string },
): Promise<Inserted> {
  const stored = await read(insertions.map(({ episode }) => episode));
  const sources = new Map(stored.flatMap((group) => group.members.map(({ key }) => [keyText(key), group])));
  const there = new Set(groups.flatMap(({ members }) => members.map(({ key }) => keyText(key))));
  const placeOf = ({ group, episode }: Insertion): Group | string =>
    group === 'new' ? taskOf(episode) : groups.find((own) => isSame(own, given[group]!))!;
  const asked = new Map(insertions.map((own) => [keyText(own.episode), placeOf(own)]));
  const joining = new Map<Group | string, Episode[]>();
  const prefixes: Episode[] = [];
  for (const insertion of insertions) {
    const name = keyText(insertion.episode);
    const [found, ...origins] = chainIn(sources.get(name), name);
    if (!found)
      throw badDefinition(subject, 'inserts an episode that the run has not stored', name, 'a stored one');
    if (there.has(name))
      throw badDefinition(subject, 'inserts an episode that the step has already', name, 'each episode once');
    there.add(name);
    const place = placeOf(insertion);
    const members = joining.get(place) ?? [];
    joining.set(place, members);
    const isIn = (key: string): boolean =>
      [...members, ...(typeof place === 'string' ? [] : place.members)].some(
        (own) => keyText(own.key) === key,
      );
    for (const origin of origins) {
      const key = keyText(origin.key);
      if (asked.get(key) === place || isIn(key)) continue;
      prefixes.push(origin);
      members.push(origin);
    }
    members.push(found);
  }
  // A fresh group has the number of none that this step learns from, nor of one that played its members.
  const own = insertions.filter(({ episode }) => episode.step === step).map(({ episode }) => episode.group);
  const next = Math.max(-1, ...groups.map(({ group }) => group), ...own) + 1;
  const fresh = [...joining]
    .filter(([place]) => typeof place === 'string')
    .map(([, members], index): Group => ({ step, group: next + index, members }));
  return {
    prefixes,
    fresh: new Set(fresh),
    groups: [
      ...groups.map((group) => ({ ...group, members: [...group.members, ...(joining.get(group) ?? [])] })),
      ...fresh,
    ],
  };
}

/** The episode, and those that it branched from, without their credit. */
function chainIn(group: Group | undefined, name: string): Episode[] {
  const found = group?.members.find(({ key }) => keyText(key) === name);
  if (!found) return [];
  const { credit: _, ...episode } = found;
  const { branchedFrom } = episode;
  return [episode, ...(branchedFrom ? chainIn(group, keyText(branchedFrom.episode)) : [])];
}

const isSame = (a: Group, b: Group): boolean => a.step === b.step && a.group === b.group;

/** Those that are inserted anew are compared with others of their task. */
const taskOf = ({ environment, split, task }: EpisodeKey): string => `${environment}/${split}/${task}`;
