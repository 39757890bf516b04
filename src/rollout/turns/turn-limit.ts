/** The limit that a turn control gives. */

import type { EpisodeKey } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { Json } from '../../core/json/json.ts';
import { EpisodeEnd } from '../boundary.ts';
import type { TurnRules } from './turn-control.ts';

/**
 * Undefined without a control.
 *
 * @param most the limit of the part of a mix that the episode is played in
 * @throws EpisodeEnd where code of users fails
 */
export function controlledLimit(
  rules: TurnRules | undefined,
  key: EpisodeKey,
  task: Json,
  most?: number,
): number | undefined {
  try {
    return rules?.limit(key, task, most);
  } catch (error) {
    if (!TurnwiseError.isInstance(error)) throw error;
    throw new EpisodeEnd('failed:policy', error.message, error);
  }
}
