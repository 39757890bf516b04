/** The groups whose outcomes vary most: Dr.BoT, on which SPEAR builds, arXiv 2509.22601. */

import { z } from 'zod';
import { type DefinedCuration, defineCuration } from './curation.ts';
import { among, mostVaried, roleOutcomes } from './informative.ts';

export const varied: DefinedCuration = defineCuration({
  name: 'varied',
  summary: 'only the groups whose outcomes vary most',
  options: z.strictObject({
    share: z
      .number()
      .min(0)
      .max(1)
      .default(0.75)
      .describe('Share of groups that are learned from, at least one'),
  }),
  choose: (groups, { options, isIn }) => ({
    choice: among(mostVaried(roleOutcomes(groups, isIn), options.share)),
  }),
});
