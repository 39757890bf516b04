/** Kinds of numbers that settings have. */

import { z } from 'zod';

export const count: z.ZodInt = z.int().min(1);
export const share: z.ZodNumber = z.number().min(0).max(1);
