/** Rewards that compare the episodes of a group with each other: of judges who rank, of novelty, of diversity. */

import type { ByRole, Episode, EpisodeScore } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { Message } from '../../core/messages.ts';
import { isThenable, valueText } from '../../core/safe-text.ts';
import { checkReward } from '../checks.ts';
import type { Role } from '../session.ts';

/**
 * A reward for the agent, or one for each role; undefined adds nothing. A list in the place of a number has a reward for each turn
 * of the role, in order.
 */
export type GroupScore = number | readonly number[] | ByRole<number | readonly number[]> | undefined;

/** A score as it is kept with its episode. */
export type CheckedScore = Pick<EpisodeScore, 'rewards' | 'turns'>;

/**
 * A model that is asked about a group: `openai:URL#MODEL`, a name of the agent's `models`, or a function of your own that
 * answers messages.
 */
export type JudgeModel =
  | string
  | ((messages: readonly Message[], context: { readonly signal: AbortSignal }) => string | Promise<string>);

export interface ScoreContext {
  readonly signal: AbortSignal;
  /**
   * Ask another model, at temperature 0. Its calls count against `--max-calls` and `--max-tokens`, and the first of the episodes
   * keeps them, in the role `judge`: they are never trained on.
   *
   * @throws TurnwiseError `judge-failed`, of origin `grader`
   */
  readonly ask: (model: JudgeModel, messages: readonly Message[]) => Promise<string>;
}

/**
 * A score for each of `episodes`, in their order. They are the members of one group that ended well, whole and with what
 * they earned so far; an evaluation has one in each group. The scores are added to what the episodes earned, before credit.
 */
export type ScoreGroup = (
  episodes: readonly Episode[],
  context: ScoreContext,
) => readonly GroupScore[] | Promise<readonly GroupScore[]>;

/**
 * What `scoreGroup` gave, as a reward of each role for each episode.
 *
 * @param episodes whole, as they were scored
 * @throws TurnwiseError `environment-reply`, `reward-not-finite`, `reward-too-large`
 */
export function checkedGroupScores(
  value: unknown,
  episodes: readonly Pick<Episode, 'transitions'>[],
  world: string,
  roles: readonly Role[],
): readonly CheckedScore[] {
  if (!Array.isArray(value) || value.length !== episodes.length) {
    const seen = Array.isArray(value) ? `${value.length} scores` : valueText(value);
    throw reply(seen, `an array with ${episodes.length} scores, one for each episode`);
  }
  return value.map((score: unknown, index): CheckedScore => {
    if (score === undefined) return { rewards: {} };
    const entries = Object.entries(byRole(score, roles));
    const turns: Record<Role, readonly number[]> = {};
    const rewards = entries.map(([role, given]) => {
      if (!roles.includes(role))
        throw reply(`"${role}" in a score`, roles.map((known) => `"${known}"`).join(', '));
      if (!Array.isArray(given)) return [role, checkReward(world, given, role)] as const;
      turns[role] = checkedTurns(given, episodes[index]!, world, role);
      return [role, checkReward(world, sumOf(turns[role]), role)] as const;
    });
    return {
      rewards: Object.fromEntries(rewards),
      ...(Object.keys(turns).length > 0 && { turns }),
    };
  });
}

/** By role, where it is not so already: in worlds of one role a score is that role's. */
function byRole(score: unknown, roles: readonly Role[]): object {
  const [role] = roles;
  const isOne = roles.length === 1 && role !== undefined;
  if (isOne && (typeof score === 'number' || Array.isArray(score))) return { [role]: score };
  if (typeof score === 'object' && score !== null && !Array.isArray(score) && !isThenable(score))
    return score;
  throw reply(
    valueText(score),
    isOne
      ? 'a number, or a list of them with one for each turn'
      : 'an object with a number for each role, or a list with one for each of its turns',
  );
}

function checkedTurns(
  given: readonly unknown[],
  { transitions }: Pick<Episode, 'transitions'>,
  world: string,
  role: Role,
): number[] {
  const turns = transitions.filter((transition) => transition.role === role).length;
  if (given.length !== turns)
    throw reply(`${given.length} rewards of turns for "${role}"`, `${turns}, one for each turn`);
  return given.map((reward) => checkReward(world, reward, role));
}

const sumOf = (rewards: readonly number[]): number => rewards.reduce((sum, reward) => sum + reward, 0);

function reply(seen: string, allowed: string): TurnwiseError {
  return new TurnwiseError('environment-reply', {
    what: 'scoreGroup() returned an invalid value',
    seen,
    allowed,
    fields: { call: 'scoreGroup()' },
  });
}
