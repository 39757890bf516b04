/** How large the result of a claim will be, so that one that is too large is refused before its runs, not after them. */

import type { Job } from '../jobs.ts';
import { resultFor } from './claim-figures.ts';
import type { ClaimedAt } from './claim-git.ts';
import { fewestRates, measuredIn, metricsOf, type WrittenRun } from './claim-result.ts';
import type { ClaimStudy } from './claim-run.ts';

/** Characters of a rate with its area on tuning seeds. */
const tunedRate = '[0.0005,-1.23],'.length;

/** A figure of three digits is shortest above 1, as exploitability is: what fits is never refused. */
const shortest = 1.23;

/** Figures that end in zeros are shorter still. */
const shorter = 0.95;

/** @param verdict the runs of its verdict, as far as they are known */
export function leastBytes(claimed: ClaimStudy, verdict: readonly Job[], at: ClaimedAt): number {
  const { claim, seeds, study } = claimed;
  const empty = resultFor(claimed, { jobs: [], rates: new Map() }, [], at);
  const wanted = metricsOf(claim);
  const measured = measuredIn(claim);
  const figures = (one: number): number[] => seeds.verdict.map(() => one);
  const rows = verdict
    .filter(({ kind }) => kind === 'run')
    .map(({ world, arm, rate }): readonly [string, WrittenRun] => [
      world,
      {
        arm,
        ...(rate !== undefined && { rate }),
        ...{
          final: figures(shortest),
          episodes: 100,
          area: wanted.has('area') ? figures(shortest) : [shortest],
        },
        ...(wanted.has('return') && { return: figures(shortest) }),
        ...(wanted.has('cost') && { cost: figures(12345) }),
        ...(measured.length > 0 && {
          measured: Object.fromEntries(measured.map((name) => [name, figures(shortest)])),
        }),
        ...{ start: shortest, spent: [1234, 12345, 123456, 12] },
      },
    ]);
  const different = new Set(rows.map((row) => JSON.stringify(row)));
  const tuned = study.worlds.length * Object.values(claim.arms).filter(({ tune }) => tune !== false).length;
  const bytes = [...different].reduce(
    (sum, row) => sum + JSON.stringify(JSON.parse(row)[1]).length + 1,
    JSON.stringify(empty).length + tuned * fewestRates * tunedRate,
  );
  return Math.floor(shorter * bytes);
}
