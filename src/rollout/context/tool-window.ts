/** A sliding window over tool results: the policy's own words stay, earlier results are left out. */

import { z } from 'zod';
import { type ContextStrategy, defineContext } from './strategy.ts';
import { foldedBy, resultCounts, withResults } from './tool-results.ts';

/**
 * Whenever more than `results` results stand in the prompt, a placeholder replaces the `every` oldest. Without tools, what the
 * environment says after the opening counts as results.
 *
 * Source: DeepMiner (arXiv 2510.08276). Deviation: results that the policy has not read are never left out, even where more
 * than `results` come at once.
 */
export const toolWindow: ContextStrategy = defineContext({
  name: 'tool-window',
  summary: 'all turns, with the latest tool results only',
  options: z
    .strictObject({
      results: z.int().min(1).default(5).describe('Most tool results in a prompt'),
      every: z
        .int()
        .min(0)
        .default(0)
        .describe(
          'Results that are left out at a time, at most `results`; 0: half of them; 1: one every turn',
        ),
      placeholder: z
        .string()
        .default('Earlier result left out; call the tool again if you need it.')
        .describe('What stands in the place of a result that is left out'),
    })
    .refine(({ results, every }) => every <= results, {
      path: ['every'],
      message: 'at most `results`',
    }),
  says: ({ placeholder }) => [placeholder],
  start: () => ({ folded: 0 }),
  window(view) {
    const { results, placeholder } = view.options;
    const every = view.options.every || Math.ceil(results / 2);
    const folded = foldedBy(resultCounts(view), view.state.folded, results, every);
    const parts = withResults(view, (result, index) =>
      index < folded ? { ...result, content: placeholder } : result,
    );
    return { conversation: { parts }, state: { folded } };
  },
});
