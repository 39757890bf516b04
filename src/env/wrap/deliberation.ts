/** A proposal, its verification and its refinement: the pipeline of MALT (arXiv 2412.01928) over any environment. */

import type { Environment } from '../environment.ts';
import type { Game } from '../game.ts';
import { type Responses, responses } from './responses.ts';

/**
 * The environment with one role that plays the task three times over: it proposes a response, says `good` or `bad` of it (with the
 * action to begin with, where it has advice), and responds again, from the start. Only the last response is paid for.
 *
 * For an environment of one turn an episode has three, and the trees of the recipe `malt` 27 leaves; for one of n turns it has
 * 2n + 1. The facts are those of `answerAndFeedback`. Deviation: the paper trains a model for each part; here one policy plays all
 * three, and tells them apart by what it reads.
 *
 * @example
 * export const considered = deliberation(countdown);
 * // npx turnwise train ./considered.ts --recipe malt
 */
export function deliberation<Task, State>(inner: Environment<Task, State>): Game<Task, Responses<State>> {
  return responses(inner, {
    name: `${inner.name}-deliberation`,
    description: `${inner.description} A response, a review of it, and the response that counts.`,
    roles: ['agent'],
    stages: [
      { role: 'agent', does: 'respond' },
      { role: 'agent', does: 'review' },
      { role: 'agent', does: 'respond' },
    ],
    pays: 'last',
    endsWhenGood: false,
    succeeds: 'last',
    parts: {
      agent:
        'First you propose a response. Then you review it: say good, or bad and the action to begin with, such as: bad ACTION. Then you respond again, and that counts.',
    },
  });
}
