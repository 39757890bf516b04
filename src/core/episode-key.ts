/** Keys of episodes as text, for people and for names of random streams. Nothing ever parses such a text. */

import type { EpisodeKey, Place } from './episode.ts';

/** For people, and unique in a run: `12/3/0`, or `test/12/3/0` where the task is not one of training. */
export function keyText({ split, step, group, member }: EpisodeKey): string {
  const place = `${step}/${group}/${member}`;
  return split === 'train' ? place : `${split}/${place}`;
}

/** For people, and unique in a run: `12/3/0#4` is after transition 4. */
export function placeText({ episode, transition }: Place): string {
  return `${keyText(episode)}#${transition}`;
}

/** Every part of the key, for the name of a random stream. */
export function keyParts(key: EpisodeKey): (string | number)[] {
  return [key.step, key.environment, key.split, key.task, key.group, key.member];
}
