/** From figures to a verdict on a claim. The first row of the table in docs/evidence.md that fits decides. */

import { fewestSeeds, jointInterval, type PairedComparison, seedsToDecide, undecidable } from './paired.ts';

export type Verdict =
  | 'reproduced'
  | 'refuted'
  | 'of our implementation only'
  | 'cannot fail here'
  | 'undecided'
  | 'void'
  | 'pending';

/** One comparison that a claim needs: all must hold. */
export interface Part {
  /** `grpo at 0.0005` */
  readonly against: string;
  /** `placebo`: the claimant without its information; above zero is enough. */
  readonly kind: 'better' | 'placebo' | 'no worse';
  /** The least difference that the claim speaks of; of `no worse`, what it may be worse by. */
  readonly size: number;
  /** Claimant minus the other, in the claim's direction, tested at the claim's level after Holm. */
  readonly comparison: PairedComparison;
}

export interface Facts {
  /** Why the result counts for nothing: the claim was changed, is younger than its result, … */
  readonly void: readonly string[];
  /** Why the claim could not have failed: equal arms, an unmet gate, rivals that were not told what the claimant is. */
  readonly cannotFail: readonly string[];
  /** Why nothing can be decided: too many runs missing, a ceiling without a second metric. */
  readonly undecided: readonly string[];
  /** In which the implementation differs from the source by name: a refutation is then of it alone. */
  readonly deviations: readonly string[];
  /** The level of the claim after Holm. */
  readonly alpha: number;
}

export interface Judgement {
  readonly verdict: Verdict;
  /** One clause. */
  readonly why: string;
  /** Of each world, where the verdict is open: what would find a difference of the claim's size. */
  readonly seedsNeeded?: number;
}

/** p of a claim: the largest of its parts, since all must hold. A part on the wrong side counts as 1. */
export function claimP(parts: readonly Part[]): number {
  return parts.length === 0 ? 1 : Math.max(...parts.map(partP));
}

function partP({ comparison }: Part): number {
  return comparison.mean > 0 ? comparison.p : 1;
}

export function judge(parts: readonly Part[], facts: Facts): Judgement {
  const { deviations, alpha } = facts;
  if (facts.void.length > 0) return { verdict: 'void', why: facts.void.join('; ') };
  if (facts.cannotFail.length > 0) return { verdict: 'cannot fail here', why: facts.cannotFail.join('; ') };
  const open = [...facts.undecided, ...parts.flatMap((part) => undecidable(part.comparison) ?? [])];
  if (parts.length === 0) {
    return { verdict: 'undecided', why: [...open, 'it compares with nothing'].join('; ') };
  }
  if (open.length > 0) return undecided(parts, [...new Set(open)].join('; '), alpha);
  const failing = parts.filter((part) => !holds(part));
  if (failing.length === 0) return { verdict: 'reproduced', why: 'every part holds' };
  const excluded = failing.filter(isExcluded);
  if (excluded.length > 0) {
    const isWhole = parts.length > 2 && parts.every(isReversed);
    const why = isWhole
      ? `reversed against all ${parts.length} it is compared with`
      : excluded.map(describeExclusion).join('; ');
    return deviations.length > 0
      ? { verdict: 'of our implementation only', why: `${why}; it deviates: ${clauses(deviations)}` }
      : { verdict: 'refuted', why: `${why}, at this scale` };
  }
  return undecided(parts, failing.map(describeOpen).join('; '), alpha);
}

/** Sentences as one: each may end with a full stop. */
export const clauses = (sentences: readonly string[]): string =>
  sentences.map((one) => one.replace(/\.$/, '')).join('; ');

function holds({ kind, size, comparison }: Part): boolean {
  const { low } = jointInterval(comparison);
  return low > 0 && (kind !== 'better' || comparison.mean >= size - 1e-12);
}

/** The claimed size lies above both intervals. Of `no worse` the margin is part of the difference already. */
function isExcluded({ kind, size, comparison }: Part): boolean {
  return jointInterval(comparison).high < (kind === 'no worse' ? 0 : size);
}

function describeExclusion(part: Part): string {
  const { against, kind, size } = part;
  if (kind === 'no worse') return `worse than ${against} by more than ${size}`;
  return isReversed(part) ? `reversed against ${against}` : `${size} above ${against} is excluded`;
}

const describeOpen = ({ against, kind, size }: Part): string =>
  kind === 'no worse'
    ? `not shown to be no worse than ${against} by ${size}`
    : `not shown against ${against}`;

const isReversed = ({ kind, comparison }: Part): boolean =>
  kind !== 'no worse' && jointInterval(comparison).high < 0;

function undecided(parts: readonly Part[], why: string, alpha: number): Judgement {
  const needed = parts.map(({ comparison, size }) =>
    Math.max(fewestSeeds, seedsToDecide(comparison, size, alpha)),
  );
  const most = Math.max(...needed);
  // Where all pairs are alike, nobody knows.
  return { verdict: 'undecided', why, ...(Number.isFinite(most) && { seedsNeeded: most }) };
}

/** Whether success is too near its top for `final` to decide: both means, or half of the pairs. */
export function atCeiling(first_S: readonly number[], second_S: readonly number[]): boolean {
  const average = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const ties = first_S.filter((value, seed) => Math.abs(value - second_S[seed]!) <= 1e-12).length;
  return (average(first_S) >= 0.97 && average(second_S) >= 0.97) || 2 * ties >= first_S.length;
}
