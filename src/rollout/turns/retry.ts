/**
 * Unary feedback: after a failed attempt the role reads that it failed, and nothing else, and begins the task again in the same
 * conversation. UFO, arXiv 2507.14295.
 *
 * Each attempt has the usual turns. In environments that tell answers, the reward shaping `ufo` makes a success worth less the
 * later it comes; it reads an answer in every turn. An environment wrapped with `unaryFeedback` does the same as part of its rules, in
 * evaluations, too.
 */

import { z } from 'zod';
import { user } from '../../core/messages.ts';
import { afterLast, attemptOf, isOver } from './attempts.ts';
import { type DefinedTurns, defineTurns } from './turn-control.ts';

export const retry: DefinedTurns = defineTurns({
  name: 'retry',
  summary: 'a failed task is attempted again, told only that it failed',
  options: z.strictObject({
    attempts: z.int().min(1).default(5).describe('Attempts at a task'),
    message: z.string().default('That is wrong. Try again.').describe('What is said after a failed attempt'),
  }),
  retries: true,
  says: ({ message }) => [message],
  limit: (_task, { usual, options }) => usual * options.attempts,
  longest: ({ attempts }, usual) => usual * attempts,
  after(view, { done, success, options: { attempts, message } }) {
    if (success || !isOver(view, done, attempts)) return 'go on';
    return attemptOf(view) + 1 < attempts ? { retry: user(message) } : afterLast(done);
  },
});
