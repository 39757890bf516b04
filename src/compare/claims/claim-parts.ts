/** What the claimant is tested against, and by how much it leads: the parts of a verdict. */

import { Rng } from '../../core/rng.ts';
import { mean } from '../../core/statistics.ts';
import { breakEven, collapseBound } from '../../evidence/collapse.ts';
import { type ArmScores, comparePaired, type WorldPair } from '../../evidence/paired.ts';
import { atCeiling, type Part } from '../../evidence/verdict.ts';
import { type Claim, type ClaimMetric, claimantOf } from './claim.ts';
import { type ClaimResult, figuresBySeed, type ResultRun } from './claim-result.ts';

export interface JudgedPart extends Part {
  /** The collapse rate of the claimant at which its lead is gone. */
  readonly breakEven?: number;
  /** The highest rate that its seeds without a collapse leave possible. */
  readonly collapseBound?: number;
}

export interface Rivalry {
  readonly name: string;
  readonly role: Claim['arms'][string]['role'];
  /** By world: the claimant and the other. */
  readonly pairs: readonly { readonly own: ResultRun; readonly other: ResultRun }[];
}

/**
 * The claimant against each rival and placebo. In one world, at every rate at which the other ran; in several, where each
 * has rates of its own, at the one that did best, which is the hardest.
 */
export function againstOthers(claim: Claim, worlds: ClaimResult['worlds']): readonly Rivalry[] {
  const claimant = claimantOf(claim);
  const all = Object.values(worlds);
  const own = all.map(({ runs }) => runs.find(({ arm }) => arm === claimant));
  if (own.some((run) => run === undefined)) return [];
  return Object.entries(claim.arms).flatMap(([name, { role }]): Rivalry[] => {
    if (role === 'claimant' || role === 'ceiling') return [];
    const candidates = all.map(({ runs }) => runs.filter(({ arm }) => arm === name));
    if (candidates.some(({ length }) => length === 0)) return [];
    const against = (others: readonly ResultRun[], label: string): Rivalry => ({
      ...{ name: label, role },
      pairs: others.map((other, index) => ({ own: own[index]!, other })),
    });
    if (all.length === 1) {
      return candidates[0]!.map((run) =>
        against([run], run.rate === undefined ? name : `${name} at ${run.rate}`),
      );
    }
    const sign = claim.direction === 'higher' ? 1 : -1;
    const level = (run: ResultRun): number => sign * mean(present(figuresBySeed(run, claim.metric)));
    const best = candidates.map((runs) => runs.reduce((so, run) => (level(run) > level(so) ? run : so)));
    return [against(best, `${name} at its best`)];
  });
}

export const present = (values: readonly (number | null)[]): number[] =>
  values.filter((value) => value !== null);

export const isCeiling = ({ pairs }: Rivalry): boolean =>
  pairs.some(({ own, other }) => {
    const both = bothFigures(own, other, 'final');
    return (
      both.length > 0 &&
      atCeiling(
        both.map(([value]) => value),
        both.map(([, rival]) => rival),
      )
    );
  });

/** Whom the claimant shares no seed with, by a metric that the claim goes by. */
export function untested(claim: Claim, { worlds }: ClaimResult): string[] {
  const metrics = [claim.metric, ...claim.analysis.noWorse.map(({ metric }) => metric)];
  return againstOthers(claim, worlds)
    .filter((rivalry) => metrics.some((metric) => !isTested(rivalry, metric)))
    .map(({ name }) => name);
}

const isTested = ({ pairs }: Rivalry, metric: ClaimMetric): boolean =>
  pairs.every(({ own, other }) => bothFigures(own, other, metric).length > 0);

export function partsOf(claim: Claim, result: ClaimResult, alpha: number): readonly JudgedPart[] {
  const rivalries = againstOthers(claim, result.worlds);
  const tested = (rivalry: Rivalry, metric: ClaimMetric, margin = 0) => {
    const pairs = rivalry.pairs.map(({ own, other }) => pairOf(own, other, metric, claim, margin));
    return comparePaired(pairs, { alpha, rng: Rng.of('claim', claim.id, rivalry.name, metric) });
  };
  const led = rivalries
    .filter(({ role }) => role !== 'reference')
    .filter((one) => isTested(one, claim.metric));
  const better = led.map((rivalry): JudgedPart => {
    const { analysis, metric } = claim;
    const second = metric === 'final' && analysis.atCeiling !== undefined && isCeiling(rivalry);
    const comparison = tested(rivalry, second ? analysis.atCeiling! : metric);
    const kind = rivalry.role === 'placebo' ? 'placebo' : 'better';
    return {
      against: rivalry.name,
      kind,
      size: claim.minimal,
      comparison,
      ...lead(rivalry, comparison.mean, metric),
    };
  });
  const noWorse = claim.analysis.noWorse.flatMap(({ rival, metric, margin }) =>
    rivalries
      .filter(({ name }) => name === rival || name.startsWith(`${rival} at `))
      .filter((rivalry) => isTested(rivalry, metric))
      .map(
        (rivalry): JudgedPart => ({
          ...{ against: rivalry.name, kind: 'no worse', size: margin },
          comparison: tested(rivalry, metric, margin),
        }),
      ),
  );
  return [...better, ...noWorse];
}

/**
 * Costs are better when they are lower, whatever the direction of the claim's own metric, and are compared as ratios: in
 * halvings, so that 1 is half the cost.
 */
function pairOf(
  own: ResultRun,
  other: ResultRun,
  metric: ClaimMetric,
  claim: Claim,
  margin: number,
): WorldPair {
  const lower = metric === 'cost' || (metric === claim.metric && claim.direction === 'lower');
  const both = bothFigures(own, other, metric);
  const sign = lower ? -1 : 1;
  const scores = (side: 0 | 1, extra: number, episodes: number | undefined): ArmScores => ({
    values_S: both.map((pair) => sign * (metric === 'cost' ? Math.log2(pair[side]) : pair[side]) + extra),
    // With a margin the share is not that of episodes any more.
    ...(metric === 'final' &&
      episodes !== undefined &&
      extra === 0 &&
      sign === 1 && { shares_S: both.map((pair) => ({ solved: pair[side] * episodes, episodes })) }),
  });
  return { first: scores(0, margin, own.episodes), second: scores(1, 0, other.episodes) };
}

/** Of the seeds that both have. */
function bothFigures(
  own: ResultRun,
  other: ResultRun,
  metric: ClaimMetric,
): readonly (readonly [number, number])[] {
  const others = figuresBySeed(other, metric);
  return figuresBySeed(own, metric).flatMap((value, seed) => {
    const rival = others[seed];
    return value === null || rival === null || rival === undefined ? [] : [[value, rival] as const];
  });
}

function lead(
  { pairs }: Rivalry,
  ahead: number,
  metric: ClaimMetric,
): Pick<JudgedPart, 'breakEven' | 'collapseBound'> {
  const [only] = pairs;
  if (metric !== 'final' || pairs.length > 1 || only === undefined || ahead <= 0) return {};
  const rate = breakEven(ahead, mean(present(only.own.final)), only.own.start);
  const bound = only.own.collapsed === 0 ? collapseBound(present(only.own.final).length) : undefined;
  return {
    ...(rate !== undefined && rate <= 1 && { breakEven: rate }),
    ...(bound !== undefined && { collapseBound: bound }),
  };
}
