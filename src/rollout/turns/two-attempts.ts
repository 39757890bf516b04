/**
 * Self-correction: every task is attempted twice in one conversation, with a fixed message between, whatever the first attempt
 * was worth. SCoRe, arXiv 2409.12917.
 *
 * Each attempt has the usual turns. The outcome is the sum of both attempts. The paper's bonus for improving on the first
 * attempt is the reward shaping `score`, and the KL that anchors the first one in stage I is no part of this.
 */

import { z } from 'zod';
import { user } from '../../core/messages.ts';
import { afterLast, attemptOf, isOver } from './attempts.ts';
import { type DefinedTurns, defineTurns } from './turn-control.ts';

const ATTEMPTS = 2;

export const twoAttempts: DefinedTurns = defineTurns({
  name: 'two-attempts',
  summary: 'every task is attempted twice, with a request to correct the first attempt between',
  options: z.strictObject({
    message: z
      .string()
      .default('There may be a mistake in this attempt. Look for it, and solve the task again.')
      .describe('What is said between the attempts'),
  }),
  retries: true,
  says: ({ message }) => [message],
  limit: (_task, { usual }) => usual * ATTEMPTS,
  longest: (_options, usual) => usual * ATTEMPTS,
  after(view, { done, options }) {
    if (!isOver(view, done, ATTEMPTS)) return 'go on';
    return attemptOf(view) === 0 ? { retry: user(options.message) } : afterLast(done);
  },
});
