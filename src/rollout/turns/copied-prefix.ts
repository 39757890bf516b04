/**
 * The start at a place of an earlier step: what was done up to there is done again, word for word, in a session that repeats
 * its chance. The calls are copied and never trained on; from the place on the episode is like any other.
 */

import type { Call, Episode, EpisodeKey, Place, Transition } from '../../core/episode.ts';
import { placeText } from '../../core/episode-key.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { Chain } from '../../core/trajectory.ts';

export interface CopiedPrefix {
  /** Calls and transitions up to the place. */
  readonly calls: readonly Call[];
  readonly transitions: readonly Transition[];
  /** Where each part of it was played, the first first, and the place itself last. */
  readonly places: readonly PartEnd[];
}

/**
 * Where a part ends, and what happens by chance from there on: the same stream goes on, or another one. Unless it says so, a
 * session without snapshots stays with the stream that it has.
 */
export type PartEnd = Place & { readonly chance?: 'same' | 'fresh' };

/**
 * What an episode did up to a place.
 *
 * @param chain the episode with the prefix that it shares
 * @throws TurnwiseError `place-unknown` where the episode does not go on from there
 */
export function prefixAt(
  { startedAt = [], stop }: Episode,
  { calls, transitions }: Chain,
  place: Place,
): CopiedPrefix {
  const count = place.transition + 1;
  const last = transitions.length - (stop === 'done' ? 2 : 1);
  if (!Number.isInteger(count) || place.transition < -1 || place.transition > last) {
    throw new TurnwiseError('place-unknown', {
      what: 'An episode is to start at a place where the earlier one does not go on',
      seen: placeText(place),
      allowed: `transition -1 (its start) to ${last}`,
      next: 'Ask for a place before the end of the episode',
    });
  }
  const taken = transitions.slice(0, count);
  const acts = new Set(taken.map(({ call }) => call));
  const ends = calls.findLastIndex(({ id }) => acts.has(id));
  const earlier = startedAt.filter(({ transition }) => transition < place.transition);
  return { calls: calls.slice(0, ends + 1), transitions: taken, places: [...earlier, place] };
}

/** Who played a transition of an episode with this prefix. */
export function keyAt(
  { places }: Pick<CopiedPrefix, 'places'>,
  transition: number,
  own: EpisodeKey,
): EpisodeKey {
  return places.find((place) => transition <= place.transition)?.episode ?? own;
}

/** Whose chance it meets there. */
export function chanceKeyAt(
  { places }: Pick<CopiedPrefix, 'places'>,
  transition: number,
  own: EpisodeKey,
): EpisodeKey {
  const part = places.findIndex((place) => transition <= place.transition);
  const before = places.slice(0, part === -1 ? places.length : part);
  // Whoever shares a chance shares that of the part before.
  const began = before.findLastIndex(({ chance }) => chance !== 'same') + 1;
  return places[began]?.episode ?? own;
}
