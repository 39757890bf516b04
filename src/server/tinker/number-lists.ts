/** Long lists of numbers in requests: read in one pass that ends at the first wrong value, however many are wrong. */

import { z } from 'zod';

const isToken = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 2 ** 31 - 1;

export const tokenList: z.ZodType<number[]> = listOf(isToken, 'a token id, which is a whole number from 0');
export const numberList: z.ZodType<number[]> = listOf((value) => typeof value === 'number', 'a number');

function listOf(isGood: (value: unknown) => boolean, allowed: string): z.ZodType<number[]> {
  return z.unknown().transform((value, context): number[] => {
    const refuse = (message: string, path: number[] = []): never => {
      context.issues.push({ code: 'custom', input: value, path, message });
      return z.NEVER;
    };
    if (!Array.isArray(value)) return refuse('a list');
    const wrong = value.findIndex((item) => !isGood(item));
    return wrong < 0 ? (value as number[]) : refuse(allowed, [wrong]);
  });
}
