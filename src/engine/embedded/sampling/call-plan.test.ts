import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planCalls } from './call-plan.ts';

describe('planCalls', () => {
  it('puts every row into exactly one call within the limits', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 200 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 64 }),
        fc.integer({ min: 1, max: 400 }),
        (counts, chunkTokens, callTokens) => {
          const calls = planCalls(counts, { chunkTokens, callTokens });
          expect(calls.flat().sort((a, b) => a - b)).toEqual([...counts.keys()]);
          for (const call of calls) {
            const lengths = call.map((index) => Math.min(counts[index]!, chunkTokens));
            const padded = Math.max(...lengths) * call.length;
            const real = lengths.reduce((sum, length) => sum + length, 0);
            expect(call.length === 1 || padded <= callTokens).toBe(true);
            expect(padded - real).toBeLessThanOrEqual(Math.max(16, padded / 4));
          }
        },
      ),
    );
  });
});
