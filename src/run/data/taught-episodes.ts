/** Recorded episodes with a teacher's likeliest tokens, for recipes that learn from these and have no teacher to ask. */

import type { Episode } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { TrainConfig } from '../../train/config/config.ts';
import type { Recipe } from '../../train/recipes/recipe.ts';
import type { RecordedData } from './recorded-data.ts';
import type { RecordedGroups } from './recorded-episodes.ts';

/**
 * The episodes that can be learned from without a teacher: where the recipe wants one and the run has none, those whose answers
 * all have a teacher's likeliest tokens.
 *
 * @param tokenizer hash of that of the policy
 * @throws TurnwiseError `teacher-unfit` where these are of another tokenizer, `teacher-missing` where there are none
 */
export function learnableAlone(
  found: RecordedGroups,
  { from, taughtIn }: Pick<RecordedData, 'from' | 'taughtIn'>,
  { recipe, config, tokenizer }: { recipe: Pick<Recipe, 'needs'>; config: TrainConfig; tokenizer: string },
): RecordedGroups & { readonly untaught: number } {
  if (recipe.needs?.teacher !== 'unless-recorded' || config.teacher !== '') return { ...found, untaught: 0 };
  const groups = found.groups.flatMap((group) => {
    const members = group.members.filter(isTaught);
    return members.length > 0 ? [{ ...group, members }] : [];
  });
  const episodes = groups.reduce((sum, { members }) => sum + members.length, 0);
  if (episodes > 0) return { ...found, groups, episodes, untaught: found.episodes - episodes };
  if (taughtIn.length > 0)
    throw new TurnwiseError('teacher-unfit', {
      what: `The likeliest tokens in ${from} are those of a teacher with another tokenizer than the policy: its ids mean other text`,
      seen: `tokenizer ${taughtIn.map((hash) => hash.slice(0, 16)).join(', ')}`,
      allowed: tokenizer.slice(0, 16),
      next: 'Let a teacher of the same tokenizer score rows that this model recorded: turnwise data score',
      fields: { key: 'data', path: from },
    });
  throw new TurnwiseError('teacher-missing', {
    what: `${from} has no likeliest tokens of a teacher, and the run has no teacher`,
    seen: `${found.episodes} episodes without tokens.top`,
    next: 'Let a teacher score the file (turnwise data score FILE --teacher RUN --out SCORED), or name one: --set teacher=RUN',
    fields: { key: 'data', path: from },
  });
}

/** Whether a teacher has scored every answer that is learned. */
const isTaught = ({ calls }: Episode): boolean =>
  calls.every(({ trainable, ids, top }) => trainable !== true || ids.length === 0 || top !== undefined);
