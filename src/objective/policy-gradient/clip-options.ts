/** Options of objectives with a clipped surrogate, apart from it: threads that only build its graph load no schemas. */

import { z } from 'zod';

export const dualClipOption = z
  .union([z.literal(0), z.number().gt(1)])
  .default(3)
  .describe('Bound on the loss of negative advantages, as a multiple of |A|, above 1; 0 is off');

/** Ratio bounds with an upper one that may be wider (clip-higher, arXiv 2503.14476). */
export const clipOptions = {
  clipLow: z.number().min(0).max(1).default(0.2).describe('Ratio clip below 1'),
  clipHigh: z.number().positive().default(0.28).describe('Ratio clip above 1'),
  dualClip: dualClipOption,
};
