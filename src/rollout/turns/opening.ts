/** The streams of an episode's session. */

import type { EpisodeKey } from '../../core/episode.ts';
import { keyParts } from '../../core/episode-key.ts';
import type { Json } from '../../core/json/json.ts';
import { Rng } from '../../core/rng.ts';
import type { OpenRequest } from '../guard/guarded-session.ts';

/** Members of a group share the start; what happens by chance afterwards is each episode's own. */
export function openingOf(task: Json, key: EpisodeKey, seed: string | number): OpenRequest {
  const { environment, split, task: index, step, group } = key;
  return {
    task,
    rng: chanceOf(key, seed),
    startRng: Rng.of('start', seed, environment, split, index, step, group),
  };
}

/** What happens by chance to an episode in an attempt at its task, from 0. */
export function chanceOf(key: EpisodeKey, seed: string | number, attempt = 0): Rng {
  return Rng.of('chance', seed, ...keyParts(key), ...(attempt === 0 ? [] : ['attempt', attempt]));
}
