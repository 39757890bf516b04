/** Recency retention: the latest tool results stay, each cut to a limit, a short placeholder stands for every other. */

import { z } from 'zod';
import { type ContextStrategy, defineContext } from './strategy.ts';
import { cutText, foldedBy, resultCounts, SIDES, withResults } from './tool-results.ts';

/**
 * At least the latest `keep` results are in the prompt. Older ones stay until `every` of them can go at once.
 *
 * Source: MiroThinker (arXiv 2511.11793). Deviations:
 * 1. Results give way in blocks, so that a path goes on in between; `every: 1` is the source's.
 * 2. Limits are in characters, cut before anything is tokenized.
 */
export const toolRetention: ContextStrategy = defineContext({
  name: 'tool-retention',
  summary: 'all turns, with the results of the latest tool calls, cut to a limit',
  options: z.strictObject({
    keep: z.int().min(1).default(5).describe('Latest tool results that always stay'),
    every: z
      .int()
      .min(0)
      .default(0)
      .describe('Results that are left out at a time; 0: as many as `keep`; 1: as soon as they are older'),
    limit: z.int().min(0).default(0).describe('Most characters of a result; 0: no limit'),
    side: z.enum(SIDES).default('left').describe('Which side of a longer result is kept'),
    placeholder: z
      .string()
      .default('Result left out.')
      .describe('What stands in the place of a result that is left out'),
  }),
  says: ({ placeholder }) => [placeholder],
  start: () => ({ folded: 0 }),
  window(view) {
    const { keep, limit, side, placeholder } = view.options;
    const every = view.options.every || keep;
    const folded = foldedBy(resultCounts(view), view.state.folded, keep + every - 1, every);
    const parts = withResults(view, (result, index) => {
      if (index < folded) return { ...result, content: placeholder };
      const content = limit === 0 ? result.content : cutText(result.content, limit, side);
      return content === result.content ? result : { ...result, content };
    });
    return { conversation: { parts }, state: { folded } };
  },
});
