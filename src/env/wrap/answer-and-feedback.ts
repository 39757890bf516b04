/** An answer, feedback on it, and another answer: the world of WaltzRL (arXiv 2510.08240) over any environment. */

import type { Environment } from '../environment.ts';
import type { Game } from '../game.ts';
import { type Responses, responses, type Stage } from './responses.ts';

export interface AnswerAndFeedbackOptions {
  /** Rounds of feedback, and of answers after it, at most. Default 1. */
  readonly rounds?: number;
}

/**
 * The environment as a game of the roles `conversation` and `feedback`. The conversation plays the task; the feedback reads what it
 * did and says `good`, `bad`, or `bad ACTION` with the action to begin with; after `bad` the conversation plays the task again,
 * from its start. Every answer is paid for as the environment says, feedback by none: what it is worth is for credit (`waltzrl`,
 * `cory`). All succeed where the last answer does.
 *
 * Facts: `labelCorrect` (whether `bad` was said of an answer that failed, or `good` of one that did not), `wellFormed`, and
 * `response`, which answer a turn belongs to. Deviation: the feedback agent of the paper says two labels and a text; here it is one
 * label and one action.
 *
 * @example
 * export const checked = answerAndFeedback(countdown);
 * // npx turnwise train ./checked.ts --recipe waltzrl
 */
export function answerAndFeedback<Task, State>(
  inner: Environment<Task, State>,
  { rounds = 1 }: AnswerAndFeedbackOptions = {},
): Game<Task, Responses<State>> {
  const answer: Stage = { role: 'conversation', does: 'respond' };
  const feedback: Stage = { role: 'feedback', does: 'review' };
  return responses(inner, {
    name: `${inner.name}-feedback`,
    description: `${inner.description} One role answers, another gives feedback, and the first answers again.`,
    roles: ['conversation', 'feedback'],
    stages: [answer, ...Array.from({ length: rounds }, () => [feedback, answer]).flat()],
    pays: 'each',
    endsWhenGood: true,
    succeeds: 'last',
    parts: {
      conversation: 'If your answer is found bad, you answer again.',
      feedback:
        'Somebody else has answered. Say good where the answer is right, else bad and the action to begin with, such as: bad ACTION.',
    },
  });
}
