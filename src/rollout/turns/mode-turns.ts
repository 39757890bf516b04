/**
 * Turns by mode: each mode of `context=modes` has turns of its own, so that answering at once is one turn and using tools takes
 * as many as there may be. A²FM, arXiv 2510.12838. An episode ends as `early-stop` when they are used up.
 *
 * 1. The mode is what the environment or the context says of a turn, so each mode has at least one.
 * 2. The paper's modes differ in what they may do, not in turns; what they may do is the prompt's to say.
 */

import { z } from 'zod';
import { type DefinedTurns, defineTurns } from './turn-control.ts';

export const modeTurns: DefinedTurns = defineTurns({
  name: 'modes',
  summary: 'each mode has turns of its own',
  options: z.strictObject({
    turns: z
      .record(z.string(), z.int().min(1))
      .default({ instant: 1, reasoning: 1 })
      .describe('Turns of a mode, by its name; others have the usual ones'),
  }),
  reads: 'mode',
  demonstrated: true,
  after({ role, turn, transitions }, { done, options: { turns } }) {
    if (done) return 'go on';
    const mode = transitions.findLast((one) => one.role === role && one.facts?.mode !== undefined)?.facts
      ?.mode;
    const most = mode === undefined ? undefined : turns[mode];
    return most !== undefined && turn >= most ? { stop: 'early-stop' } : 'go on';
  },
});
