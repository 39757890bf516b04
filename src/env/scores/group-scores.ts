/** Rewards that compare the episodes of a group with each other: of judges who rank, of novelty, of diversity. */

import type { ByRole, Episode } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { Message } from '../../core/messages.ts';
import { isThenable, valueText } from '../../core/safe-text.ts';
import { checkReward } from '../checks.ts';
import type { Role } from '../session.ts';

/** A reward for the agent, or one for each role; undefined adds nothing. */
export type GroupScore = number | ByRole<number> | undefined;

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
 * @throws TurnwiseError `environment-reply`, `reward-not-finite`, `reward-too-large`
 */
export function checkedGroupScores(
  value: unknown,
  count: number,
  world: string,
  roles: readonly Role[],
): readonly ByRole<number>[] {
  if (!Array.isArray(value) || value.length !== count) {
    const seen = Array.isArray(value) ? `${value.length} scores` : valueText(value);
    throw reply(seen, `an array with ${count} scores, one for each episode`);
  }
  return value.map((score: unknown) => {
    if (score === undefined) return {};
    if (typeof score === 'number') {
      const [role, ...others] = roles;
      if (role !== undefined && others.length === 0) return { [role]: checkReward(world, score) };
    }
    if (typeof score !== 'object' || score === null || Array.isArray(score) || isThenable(score)) {
      throw reply(
        valueText(score),
        roles.length === 1 ? 'a number' : 'an object with a number for each role',
      );
    }
    return Object.fromEntries(
      Object.entries(score).map(([role, reward]) => {
        if (!roles.includes(role))
          throw reply(`"${role}" in a score`, roles.map((known) => `"${known}"`).join(', '));
        return [role, checkReward(world, reward, role)];
      }),
    );
  });
}

function reply(seen: string, allowed: string): TurnwiseError {
  return new TurnwiseError('environment-reply', {
    what: 'scoreGroup() returned an invalid value',
    seen,
    allowed,
    fields: { call: 'scoreGroup()' },
  });
}
