/**
 * A limit by what successes took: once enough of them were seen, episodes have as many turns as a share of them needed, and
 * are told how many are left. "More with Less", arXiv 2510.16786.
 *
 * With several levels the first is the limit that the role knows of. An episode that reaches it unfinished is extended to the
 * next one, and told so; the last level ends it.
 * 1. The paper takes all episodes of a run without a limit; here successes count, since failures take whatever they are given.
 * 2. What was seen is then left as it is. Going on would count only episodes under the limit, and the limit would fall.
 * 3. Levels between extensions are from memory, not from the paper.
 */

import { z } from 'zod';
import { user } from '../../core/messages.ts';
import { quantile } from '../../core/statistics.ts';
import { type DefinedTurns, defineTurns } from './turn-control.ts';
import { turnCounts } from './turn-counts.ts';
import { turnsBefore } from './turns-taken.ts';

/** Turns of successes, in the order in which they were seen. */
type Seen = readonly number[];

const share = z.number().min(0).max(1);

/** Else an extension would end an episode earlier than the limit before it, or add no turn. */
const isRising = (levels: readonly number[]): boolean =>
  levels.every((level, index) => index === 0 || level > levels[index - 1]!);

export const percentile: DefinedTurns = defineTurns({
  name: 'percentile',
  summary: 'the turns that a share of the successes needed, with reminders before the end',
  options: z.strictObject({
    levels: z
      .array(share)
      .min(1)
      .default([0.75])
      .refine(isRising, { message: 'rising shares from 0 to 1, none of them twice' })
      .describe('Shares of successes: the limit, or the first limit and its extensions, rising'),
    successes: z.int().min(1).default(100).describe('Successes to see first, under the usual limit'),
    reminders: z
      .int()
      .min(0)
      .default(1000)
      .describe('Turns before the limit from which every turn is followed by a reminder; 0 for none'),
    reminder: z
      .string()
      .default('Turns left: {left}')
      .describe('The reminder, with {left} for a number of turns'),
    extension: z
      .string()
      .default('Not finished: the limit is extended. Turns left: {left}')
      .describe('What is said where the limit is extended, with {left} for a number of turns'),
  }),
  // No demonstration has its limit, which is found in the successes of the run: but its words are known.
  says({ levels, reminders, reminder, extension }, longest) {
    const said = (text: string, most: number): string[] =>
      Array.from({ length: most }, (_, index) => text.replaceAll('{left}', String(index + 1)));
    return [
      ...said(reminder, Math.min(reminders, longest - 1)),
      ...said(extension, levels.length > 1 ? longest - 1 : 0),
    ];
  },
  start: (): Seen => [],
  limit: (_task, { usual, memory, options: { levels, successes } }) =>
    memory.length < successes ? usual : turnsAt(memory, levels.at(-1)!),
  after(view, { done, memory, options }) {
    if (done || memory.length < options.successes) return 'go on';
    const { turn, limit } = view;
    // A group may have a limit of its own below the levels.
    const limits = options.levels.map((level) => Math.min(limit, turnsAt(memory, level)));
    const left = (limits.find((own) => own > turn) ?? limit) - turn;
    const said = (text: string) => ({ say: user(text.replaceAll('{left}', String(left))) });
    if (left === 0) return 'go on';
    const before = turnsBefore(view);
    if (limits.some((own) => before < own && own <= turn)) return said(options.extension);
    return left <= options.reminders ? said(options.reminder) : 'go on';
  },
  remember(groups, { memory, options }) {
    if (memory.length >= options.successes) return memory;
    const seen = turnCounts(groups).filter(({ success }) => success);
    return [...memory, ...seen.map(({ turns }) => turns)];
  },
});

/** The turns within which a share of the episodes had ended: between neighbours by line, then rounded up. */
function turnsAt(seen: Seen, level: number): number {
  return Math.ceil(quantile(seen, level));
}
