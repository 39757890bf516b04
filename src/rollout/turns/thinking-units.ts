/**
 * Thinking units: a task that one answer ends is thought about in several turns, each with an answer of its own, until the role
 * gives the same answer again or has used its units up. The last answer counts. MinD, arXiv 2505.19788.
 *
 * 1. The paper splits recorded chains of thought and imitates them; here the task is opened again after each answer, in the same
 *    conversation, and nothing is said of whether it was right.
 * 2. The paper's model ends by itself. Here it repeats its answer, or writes `end` in the unit, where that is set.
 * 3. Every unit earns what its answer is worth. The reward shaping `mind` pays the last answer alone, and more the fewer units.
 */

import { z } from 'zod';
import { user } from '../../core/messages.ts';
import { afterLast, attemptOf, isOver } from './attempts.ts';
import { type DefinedTurns, defineTurns } from './turn-control.ts';

export const thinkingUnits: DefinedTurns = defineTurns({
  name: 'thinking-units',
  summary: 'a task is answered again until the answer stays the same',
  options: z.strictObject({
    units: z.int().min(2).default(6).describe('Most answers to a task'),
    message: z
      .string()
      .default('Think on: give another answer, or the same one again to end.')
      .describe('What is said after an answer'),
    end: z.string().default('').describe('A text in a unit that ends the thinking at once; empty: none'),
  }),
  retries: true,
  says: ({ message }) => [message],
  /** Every second answer, so that both are shown: to end by a word, and by the same answer. */
  script: (text, { transitions }, { options: { end } }) =>
    end !== '' && transitions.length % 2 === 1 ? `${end} ${text}` : text,
  limit: (_task, { usual, options }) => usual * options.units,
  longest: ({ units }, usual) => usual * units,
  after(view, { done, options: { units, message, end } }) {
    const attempt = attemptOf(view);
    if (!isOver(view, done, units)) return 'go on';
    if (attempt + 1 >= units) return afterLast(done);
    const { transitions, calls } = view;
    const last = transitions.at(-1);
    const before = transitions.findLast((one) => (one.attempt ?? 0) === attempt - 1);
    const isSame = before !== undefined && last !== undefined && before.action === last.action && last.valid;
    const isEnded = end !== '' && calls.at(-1)?.text.includes(end) === true;
    return isSame || isEnded ? afterLast(done) : { retry: user(message) };
  },
});
