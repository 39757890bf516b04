/** What credit alone does, on tables of logits. */

import { expect, test } from 'vitest';
import { isAsExpected } from './comparison.ts';
import type { Outcome } from './experiment.ts';
import { tables } from './tables.ts';

test.each(tables.map((table) => [table.name, table.claim, table] as const))(
  '%s: %s',
  { timeout: 120_000 },
  async (_name, _claim, { arms, comparisons, run }) => {
    const compared = new Set(comparisons.flatMap(({ arm, against }) => [arm, against]));
    const outcomes = new Map<string, Outcome>();
    for (const arm of arms) if (compared.has(arm)) outcomes.set(arm, await run(arm, 1));
    const figures = Object.fromEntries([...outcomes].map(([arm, outcome]) => [arm, outcome.figures]));
    for (const comparison of comparisons) {
      const [ours, theirs] = [outcomes.get(comparison.arm)!, outcomes.get(comparison.against)!];
      expect(isAsExpected(comparison, ours, theirs), JSON.stringify({ comparison, figures })).toBe(true);
    }
  },
);
