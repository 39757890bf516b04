/** The options of commands that ask models elsewhere, which cost money. */

import { z } from 'zod';
import { parsePrice, SpendMeter } from '../server/gateway/spend.ts';

export const spendOptions = {
  maxCalls: z.int().min(1).optional().describe('Stop before more calls than these to models elsewhere'),
  maxTokens: z
    .int()
    .min(1)
    .optional()
    .describe('Stop when models elsewhere have read and written this number of tokens'),
  price: z
    .string()
    .optional()
    .describe('IN,OUT: what a million tokens cost that are read, and that are written'),
};

interface Given {
  readonly maxCalls?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly price?: string | undefined;
}

/** @throws TurnwiseError `option-value` */
export function meterOf({ maxCalls, maxTokens, price }: Given): SpendMeter {
  return new SpendMeter({
    ...(maxCalls !== undefined && { maxCalls }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(price !== undefined && { price: parsePrice(price) }),
  });
}
