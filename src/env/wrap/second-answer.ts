/** Two answers, one after the other: the world of CORY (arXiv 2410.06101) over any environment. */

import type { Environment } from '../environment.ts';
import type { Game } from '../game.ts';
import { type Responses, responses } from './responses.ts';

/**
 * The environment as a game of the roles `pioneer` and `observer`. The pioneer plays the task; the observer reads what the pioneer did
 * and plays it, too, from its start. Each is paid for its own answer; the recipe `cory` gives both the sum, and has the two exchange
 * roles every few steps.
 *
 * @example
 * export const pair = secondAnswer(countdown);
 * // npx turnwise train ./pair.ts --recipe cory
 */
export function secondAnswer<Task, State>(inner: Environment<Task, State>): Game<Task, Responses<State>> {
  return responses(inner, {
    name: `${inner.name}-pair`,
    description: `${inner.description} One role answers, and another answers after it.`,
    roles: ['pioneer', 'observer'],
    stages: [
      { role: 'pioneer', does: 'respond' },
      { role: 'observer', does: 'respond' },
    ],
    pays: 'each',
    endsWhenGood: false,
    succeeds: 'own',
    parts: {
      pioneer: 'Somebody else will read your answer and answer after you.',
      observer: 'You read an answer of somebody else before you give yours.',
    },
  });
}
