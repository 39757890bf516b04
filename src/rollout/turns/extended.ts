/**
 * Limits that are extended on demand: an episode has few turns, and more where it is not finished. "More with Less", arXiv
 * 2510.16786.
 *
 * 1. `limits` are numbers of turns; `percentile` finds them in the successes of the run.
 * 2. With `demand` an extension is for whoever asked for it since the last one, in its thoughts or in words beside its act; others
 *    stop at the limit, and keep the reward that they have. The paper extends whatever is not finished, which is the default.
 */

import { z } from 'zod';
import { user } from '../../core/messages.ts';
import { type DefinedTurns, defineTurns } from './turn-control.ts';
import { turnsBefore, turnsSoFar } from './turns-taken.ts';

export const extended: DefinedTurns = defineTurns({
  name: 'extended',
  summary: 'few turns, and more of them for episodes that are not finished',
  options: z.strictObject({
    limits: z
      .array(z.int().min(1))
      .min(1)
      .default([10, 20])
      .refine((limits) => limits.every((limit, index) => index === 0 || limit > limits[index - 1]!), {
        message: 'rising numbers of turns',
      })
      .describe('The limit, and the limit after each extension, rising, in turns'),
    demand: z.string().default('').describe('A text that asks for an extension; empty: nobody has to ask'),
    reminders: z
      .int()
      .min(0)
      .default(3)
      .describe('Turns before a limit from which every turn is followed by a reminder; 0 for none'),
    reminder: z
      .string()
      .default('Turns left: {left}')
      .describe('The reminder, with {left} for a number of turns'),
    extension: z
      .string()
      .default('Not finished: the limit is extended. Turns left: {left}')
      .describe('What is said where the limit is extended, with {left} for a number of turns'),
  }),
  demonstrated: true,
  says: ({ limits, reminders, reminder, extension }) => {
    const spans = limits.map((limit, index) => limit - (limits[index - 1] ?? 0));
    const last = Array.from({ length: Math.min(reminders, Math.max(...spans)) }, (_, index) => index + 1);
    const said = (text: string) => (left: number) => text.replaceAll('{left}', String(left));
    return [...last.map(said(reminder)), ...spans.slice(1).map(said(extension))];
  },
  /** Asks in the turn at whose end a limit would stop it. */
  script(text, view, { options: { limits, demand } }) {
    const before = turnsSoFar(view);
    const stops = limits.slice(0, -1).some((limit) => before < limit && limit <= view.turn + 1);
    return demand !== '' && stops ? `${demand} ${text}` : text;
  },
  limit: (_task, { options: { limits } }) => limits.at(-1)!,
  longest: ({ limits }) => limits.at(-1)!,
  after(view, { done, options }) {
    if (done) return 'go on';
    const { role, turn, limit, calls } = view;
    // A group may have a limit of its own below these.
    const limits = options.limits.map((own) => Math.min(own, limit));
    const next = limits.find((own) => own > turn);
    if (next === undefined) return 'go on';
    const said = (text: string) => ({ say: user(text.replaceAll('{left}', String(next - turn))) });
    const before = turnsBefore(view);
    if (limits.some((own) => before < own && own <= turn)) {
      const extended = limits.filter((own) => own <= before).at(-1) ?? 0;
      const acts = calls.filter((call) => call.role === role && call.purpose === 'act');
      const latest = acts.slice(Math.max(0, acts.length - (turn - extended)));
      const isWanted = options.demand === '' || latest.some(({ text }) => text.includes(options.demand));
      return isWanted ? said(options.extension) : { stop: 'early-stop' };
    }
    return next - turn <= options.reminders ? said(options.reminder) : 'go on';
  },
});
