import { expect, test } from 'vitest';
import { readClaims } from './claim.ts';
import { type ClaimResult, fewestRates, metricsOf, resultsOf } from './claim-result.ts';
import { jobsOfResult, prepareClaim } from './claim-run.ts';
import { leastBytes } from './claim-size.ts';

const claims = readClaims('bench/claims');
const at = { claimBlob: '0'.repeat(40), commit: '0'.repeat(40) };

test.for(claims.flatMap((stored) => resultsOf(stored).map(({ result }) => ({ stored, result }))))(
  'the size of the result of $result.claim is known from its runs',
  async ({ stored, result }) => {
    const claimed = await prepareClaim(stored, 'runs', result.seeds.verdict);
    const least = leastBytes(claimed, jobsOfResult(claimed, result), at);
    const hasArea = metricsOf(stored.claim).has('area');
    const bytes = (rates: number): number => JSON.stringify(shortened(result, hasArea, rates)).length;
    expect(least / bytes(fewestRates)).toBeGreaterThan(0.8);
    expect(least / bytes(Number.POSITIVE_INFINITY)).toBeLessThan(1);
  },
);

/** As it would be written now, with so many rates of tuning: the first results hold zeros and areas that decide nothing. */
function shortened({ worlds, ...result }: ClaimResult, hasArea: boolean, rates: number): object {
  const short = Object.entries(worlds).map(([name, world]) => [
    name,
    {
      ...world,
      tuned: Object.fromEntries(Object.entries(world.tuned).map(([arm, all]) => [arm, all.slice(0, rates)])),
      runs: world.runs.map(({ collapsed, diverged, area, ...run }) => ({
        ...run,
        area: hasArea ? area : area.slice(0, 1),
        ...(collapsed > 0 && { collapsed }),
        ...(diverged > 0 && { diverged }),
      })),
    },
  ]);
  return { ...result, worlds: Object.fromEntries(short) };
}
