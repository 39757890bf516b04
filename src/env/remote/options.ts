/** Options that every remote environment has. */

import { z } from 'zod';

export const remoteOptions = z.strictObject({
  timeoutMs: z.int().min(1).default(30_000).describe('Longest wait for one answer of the server'),
});
