/** The verdicts of a family of claims, computed from committed figures alone. */

import { dirname } from 'node:path';
import { isAddress, isPath } from '../../core/reference.ts';
import { holm, holmLevels } from '../../evidence/multiplicity.ts';
import { claimP, type Judgement, judge } from '../../evidence/verdict.ts';
import { environmentNames } from '../../run/load/environments.ts';
import { RATES } from '../tuning.ts';
import { type Claim, claimantOf, readClaims, type StoredClaim } from './claim.ts';
import { checkPrecedence, type Precedence } from './claim-git.ts';
import { againstOthers, isCeiling, type JudgedPart, partsOf, present, untested } from './claim-parts.ts';
import { type ClaimResult, figuresBySeed, resultsOf, type StoredResult } from './claim-result.ts';

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
    return { stored, latest, p: latest ? firstP(stored.claim, latest.result) : 1 };
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

/** Before Holm; 1 where a part could not be tested. */
function firstP(claim: Claim, result: ClaimResult): number {
  return untested(claim, result).length > 0 ? 1 : claimP(partsOf(claim, result, 0.05));
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

function whyUndecided(claim: Claim, result: ClaimResult): string[] {
  const { worlds, seeds } = result;
  const runs = Object.values(worlds).flatMap((world) => world.runs);
  const { metric, analysis } = claim;
  const all = runs.length * seeds.verdict.length;
  const missing = all - runs.reduce((sum, run) => sum + present(figuresBySeed(run, metric)).length, 0);
  const ceilinged =
    metric === 'final' && analysis.atCeiling === undefined && againstOthers(claim, worlds).some(isCeiling);
  return [
    ...(10 * missing > all ? [`${missing} of ${all} runs are missing`] : []),
    ...(ceilinged ? ['success is at its ceiling'] : []),
    ...untested(claim, result).map((name) => `no seed has the claimant beside ${name}`),
  ];
}
