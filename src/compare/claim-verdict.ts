/** The verdicts of a family of claims, computed from committed figures alone. */

import { dirname } from 'node:path';
import { isAddress, isPath } from '../core/reference.ts';
import { Rng } from '../core/rng.ts';
import { mean } from '../core/statistics.ts';
import { breakEven, collapseBound } from '../evidence/collapse.ts';
import { holm, holmLevels } from '../evidence/multiplicity.ts';
import { type ArmScores, comparePaired, type WorldPair } from '../evidence/paired.ts';
import { atCeiling, claimP, type Judgement, judge, type Part } from '../evidence/verdict.ts';
import { environmentNames } from '../run/load/environments.ts';
import { type Claim, claimantOf, readClaims, type StoredClaim } from './claim.ts';
import { checkPrecedence, type Precedence } from './claim-git.ts';
import { type ClaimResult, type ResultRun, resultsOf, type StoredResult } from './claim-result.ts';
import type { MetricName } from './results.ts';
import { RATES } from './tuning.ts';

export interface JudgedPart extends Part {
  /** The collapse rate of the claimant at which its lead is gone. */
  readonly breakEven?: number;
  /** The highest rate that its seeds without a collapse leave possible. */
  readonly collapseBound?: number;
}

export interface JudgedClaim extends StoredClaim {
  readonly judgement: Judgement;
  readonly stored?: StoredResult;
  readonly parts: readonly JudgedPart[];
  /** Of the weakest part; 1 without a result. */
  readonly p: number;
  /** After Holm over the family. */
  readonly adjusted: number;
  /** Claims in the family. */
  readonly family: number;
  readonly precedence?: Precedence;
}

/** Every claim of a folder or file, with the family that each belongs to. */
export function judgeClaims(path: string, folder = process.cwd()): readonly JudgedClaim[] {
  const asked = readClaims(path);
  const around = asked.length === 1 ? readClaims(dirname(asked[0]!.path)) : asked;
  const judged = [...new Set(asked.map(({ claim }) => claim.family))].flatMap((family) =>
    judgeFamily(
      around.filter(({ claim }) => claim.family === family),
      folder,
    ),
  );
  return judged.filter((one) => asked.some((stored) => stored.path === one.path));
}

/** Claims that were withdrawn, or not run yet, stay in the family with p = 1. */
function judgeFamily(claims: readonly StoredClaim[], folder: string): readonly JudgedClaim[] {
  const found = claims.map((stored) => {
    const [latest] = stored.claim.withdrawn === undefined ? resultsOf(stored) : [];
    return { stored, latest, p: latest ? claimP(partsOf(stored.claim, latest.result, 0.05)) : 1 };
  });
  const ps = found.map(({ p }) => p);
  const [adjusted, levels] = [holm(ps), holmLevels(ps)];
  return found.map(({ stored, latest, p }, index): JudgedClaim => {
    const common = { ...stored, p, adjusted: adjusted[index]!, family: claims.length };
    if (latest === undefined) return { ...common, parts: [], judgement: pending(stored.claim) };
    const precedence = checkPrecedence(stored.path, latest.path, latest.result, folder);
    const alpha = levels[index]!;
    const parts = partsOf(stored.claim, latest.result, alpha);
    const judgement = judge(parts, {
      void: [...precedence.void, ...overlap(latest.result), ...otherTasks(stored.claim, latest.result)],
      cannotFail: whyItCannotFail(stored.claim, latest.result),
      undecided: whyUndecided(stored.claim, latest.result),
      deviations: stored.claim.deviations,
      alpha,
    });
    return {
      ...common,
      stored: latest,
      parts,
      precedence,
      judgement: afterHolm(judgement, adjusted[index]!),
    };
  });
}

/** Holm stops at the first claim that does not stand: those after it do not either, whatever their own level says. */
function afterHolm(judgement: Judgement, adjusted: number): Judgement {
  return judgement.verdict === 'reproduced' && adjusted > 0.05
    ? { verdict: 'undecided', why: 'p after Holm is above 0.05' }
    : judgement;
}

function pending(claim: Claim): Judgement {
  const { worlds, withdrawn } = claim;
  if (withdrawn !== undefined) return { verdict: 'pending', why: `withdrawn: ${withdrawn}` };
  const missing = worlds.find(
    ({ name }) => !environmentNames.includes(name) && !isPath(name) && !isAddress(name),
  );
  if (missing) return { verdict: 'pending', why: `there is no environment ${missing.name} yet` };
  return {
    verdict: 'pending',
    why: `not run yet; planned: ${fewestRuns(claim)} runs or more, ${plannedHours(claim).toFixed(1)} hours on two cores at a minute each`,
  };
}

const PLANNED_CORES = 2;

/** Hours that its fewest runs take on two cores, at a minute each. */
export const plannedHours = (claim: Claim): number => fewestRuns(claim) / 60 / PLANNED_CORES;

/** Warm starts, the first grids, and every arm once at its best rate; further rates depend on what tuning shows. */
function fewestRuns({ arms, worlds, seeds: { tuning, verdict } }: Claim): number {
  const ofArms = Object.values(arms).map(({ tune }) => {
    const rates = tune === true ? RATES : tune === false ? 0 : tune.length;
    return rates * tuning.length + verdict.length;
  });
  const starts = tuning.length + verdict.length;
  return worlds.length * ofArms.reduce((sum, runs) => sum + runs, starts);
}

function overlap({ seeds }: ClaimResult): string[] {
  const both = seeds.verdict.filter((seed) => seeds.tuning.includes(seed));
  return both.length === 0 ? [] : [`seeds ${both.join(', ')} were tuned on`];
}

function otherTasks({ worlds }: Claim, result: ClaimResult): string[] {
  return worlds.flatMap(({ name, tasks }) =>
    tasks !== undefined && result.worlds[name]?.tasks !== tasks
      ? [`${name} has other tasks than were claimed`]
      : [],
  );
}

function whyItCannotFail(claim: Claim, { ledger, gate, worlds }: ClaimResult): string[] {
  const claimant = claimantOf(claim);
  const equal = Object.values(worlds).flatMap(({ runs }) =>
    runs.filter((run) => run.equal).map(({ arm }) => arm),
  );
  const unmet = claim.gate.flatMap(({ metric, arm, atLeast, atMost }, index) => {
    const value = gate[index];
    if (value === null || value === undefined) return [`no step of ${arm} has ${metric}`];
    const met =
      value >= (atLeast ?? Number.NEGATIVE_INFINITY) && value <= (atMost ?? Number.POSITIVE_INFINITY);
    return met
      ? []
      : [
          `${metric} of ${arm} is ${value}, and the claim takes ${atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`}`,
        ];
  });
  const rivals = Object.keys(claim.arms).filter((arm) => claim.arms[arm]!.role === 'rival');
  const untold = (ledger[claimant] ?? []).filter(
    (column) => !rivals.some((rival) => ledger[rival]?.includes(column)),
  );
  return [
    ...[...new Set(equal)].map((arm) => `${claimant} equals ${arm} bit for bit: it changes nothing here`),
    ...unmet,
    ...(untold.length === 0 ? [] : [`no rival is told what ${claimant} is: ${untold.join(', ')}`]),
  ];
}

function whyUndecided(claim: Claim, { worlds, seeds }: ClaimResult): string[] {
  const runs = Object.values(worlds).flatMap((world) => world.runs);
  const all = runs.length * seeds.verdict.length;
  const missing = runs.reduce((sum, { final }) => sum + final.filter((value) => value === null).length, 0);
  const { metric, analysis } = claim;
  const ceilinged =
    metric === 'final' && analysis.atCeiling === undefined && againstOthers(claim, worlds).some(isCeiling);
  return [
    ...(10 * missing > all ? [`${missing} of ${all} runs are missing`] : []),
    ...(ceilinged ? ['success is at its ceiling'] : []),
  ];
}

interface Rivalry {
  readonly name: string;
  readonly role: Claim['arms'][string]['role'];
  /** By world: the claimant and the other. */
  readonly pairs: readonly { readonly own: ResultRun; readonly other: ResultRun }[];
}

/**
 * The claimant against each rival and placebo. In one world, at every rate at which the other ran; in several, where each
 * has rates of its own, at the one that did best, which is the hardest.
 */
function againstOthers(claim: Claim, worlds: ClaimResult['worlds']): readonly Rivalry[] {
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
    const level = (run: ResultRun): number => sign * mean(present(run[claim.metric]!));
    const best = candidates.map((runs) => runs.reduce((so, run) => (level(run) > level(so) ? run : so)));
    return [against(best, `${name} at its best`)];
  });
}

const present = (values: readonly (number | null)[]): number[] => values.filter((value) => value !== null);

const isCeiling = ({ pairs }: Rivalry): boolean =>
  pairs.some(({ own, other }) => {
    const both = own.final.flatMap((value, seed) => {
      const rival = other.final[seed];
      return value === null || rival === null || rival === undefined ? [] : [[value, rival] as const];
    });
    return (
      both.length > 0 &&
      atCeiling(
        both.map(([value]) => value),
        both.map(([, rival]) => rival),
      )
    );
  });

function partsOf(claim: Claim, result: ClaimResult, alpha: number): readonly JudgedPart[] {
  const rivalries = againstOthers(claim, result.worlds);
  const tested = (rivalry: Rivalry, metric: MetricName, margin = 0) => {
    const pairs = rivalry.pairs.map(({ own, other }) => pairOf(own, other, metric, claim, margin));
    return comparePaired(pairs, { alpha, rng: Rng.of('claim', claim.id, rivalry.name, metric) });
  };
  const led = rivalries.filter(({ role }) => role !== 'reference');
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
  metric: MetricName,
  claim: Claim,
  margin: number,
): WorldPair {
  const lower = metric === 'cost' || (metric === claim.metric && claim.direction === 'lower');
  const both = own[metric]!.flatMap((value, seed) => {
    const rival = other[metric]?.[seed];
    return value === null || rival === null || rival === undefined ? [] : [[value, rival] as const];
  });
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

function lead(
  { pairs }: Rivalry,
  ahead: number,
  metric: MetricName,
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
