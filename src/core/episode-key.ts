/** Keys of episodes as text, for people and for names of random streams. Nothing ever parses such a text. */

import type { Episode, EpisodeKey, Group, Place } from './episode.ts';
import type { Json } from './json/json.ts';

/** For people, and unique in a run: `12/3/0`, or `test/12/3/0` where the task is not one of training. */
export function keyText({ split, step, group, member }: EpisodeKey): string {
  const place = `${step}/${group}/${member}`;
  return split === 'train' ? place : `${split}/${place}`;
}

/** For people, and unique in a run: `12/3/0#4` is after transition 4. */
export function placeText({ episode, transition }: Place): string {
  return `${keyText(episode)}#${transition}`;
}

/** Whether the episode was played in this group; otherwise a curation inserted it. A group may be learned from in a later step. */
export function isPlayedIn(
  { step, group }: Pick<Group, 'step' | 'group'>,
  { key }: Pick<Episode, 'key'>,
): boolean {
  return key.step === step && key.group === group;
}

/** Every part of the key, for the name of a random stream. */
export function keyParts(key: EpisodeKey): (string | number)[] {
  return [key.step, key.environment, key.split, key.task, key.group, key.member];
}

/** All keys of episodes in a value, wherever they stand in it: what a memory may want to read again. */
export function keysIn(value: Json): EpisodeKey[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item: Json) => keysIn(item));
  return isKey(value) ? [value] : Object.values(value).flatMap(keysIn);
}

function isKey(value: Json): value is EpisodeKey {
  const { step, environment, split, task, group, member } = value as { readonly [part: string]: unknown };
  const numbers = [step, group, member].every(Number.isInteger);
  const texts = [environment, split].every((part) => typeof part === 'string');
  return numbers && texts && (typeof task === 'number' || typeof task === 'string');
}
