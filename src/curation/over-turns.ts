/**
 * Episodes that ran out of turns or of context: in the baseline, not in the loss. Mini-o3, arXiv 2509.07969, whose policy would
 * otherwise learn to answer early; SUPO, arXiv 2510.06727, masks those over the limit of its summaries likewise.
 *
 * Whether a group is worth learning from is asked of its other episodes: where these all earned the same, the group is left out.
 * 1. A group of one episode is compared with nothing, and stays.
 */

import { z } from 'zod';
import type { Choice, Episode } from '../core/episode.ts';
import { type DefinedCuration, defineCuration } from './curation.ts';
import { among, informative, type RoleOutcomes, roleOutcomes } from './informative.ts';

const STOPS = ['turn-limit', 'context-overflow', 'token-limit', 'early-stop', 'invalid-action'] as const;

export const overTurns: DefinedCuration = defineCuration({
  name: 'over-turns',
  summary: 'episodes that ran out of turns or context set baselines and are not learned from',
  options: z.strictObject({
    stops: z
      .array(z.enum(STOPS))
      .default(['turn-limit', 'context-overflow'])
      .describe('Ends of episodes that are not learned from'),
    unanimous: z
      .boolean()
      .default(false)
      .describe(
        'Whether groups are learned from whose other episodes all earned the same, such as with a critic',
      ),
  }),
  choose(groups, { options: { stops, unanimous }, isIn }) {
    const isOver = ({ stop }: Episode): boolean => stops.some((own) => own === stop);
    const choiceOf = (episode: Episode, choice: Choice): Choice =>
      choice.inBaseline && isOver(episode) ? { ...choice, inLoss: false } : choice;
    const all = roleOutcomes(groups, isIn);
    const left = among(unanimous ? all : all.filter((group) => isWorthwhile(group, isOver)));
    return { choice: (episode, role) => choiceOf(episode, left(episode, role)) };
  },
});

function isWorthwhile({ members, outcomes }: RoleOutcomes, isOver: (episode: Episode) => boolean): boolean {
  const others = outcomes.filter((_, index) => !isOver(members[index]!));
  return members.length === 1 || informative([{ outcomes: others }]).length > 0;
}
