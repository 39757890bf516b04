import { describe, expect, test } from 'vitest';
import { Rng } from '../core/rng.ts';
import { nthSmallest } from './nth-smallest.ts';

describe('the nth smallest', () => {
  test('is what stands there after sorting: ties, infinite ends, rising, falling', () => {
    const rng = Rng.of('ranks');
    for (let trial = 0; trial < 300; trial++) {
      const length = 1 + (rng.uint32() % 40);
      const kinds = 1 + (rng.uint32() % 40);
      const values_N = Float64Array.from({ length }, () => (rng.uint32() % kinds) - kinds / 2);
      if (trial % 3 === 1) values_N.sort();
      if (trial % 3 === 2) values_N.sort().reverse();
      if (trial % 5 === 0)
        values_N.set([Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].slice(0, length));
      const sorted = Float64Array.from(values_N).sort();
      for (let n = 0; n < length; n++) expect(nthSmallest(Float64Array.from(values_N), n)).toBe(sorted[n]);
    }
  });
});
