/** What was measured of a method: the comparisons of every experiment about it, in figures and in one line. */

import type { MeasuredMethod } from '../../src/cli/methods-page.ts';
import { claimantOf } from '../../src/compare/claims/claim.ts';
import type { JudgedClaim } from '../../src/compare/claims/claim-verdict.ts';
import { type Compared, compareArms } from './comparison.ts';
import { picturePath } from './curve-picture.ts';
import type { Experiment, StoredResult } from './experiment.ts';
import { experiments, pending } from './experiments.ts';

export type Results = ReadonlyMap<string, StoredResult>;

/** The comparisons that are about the method, where it has some of its own; otherwise all of the experiment. */
export function comparedFor(
  method: string,
  experiment: Experiment,
  result: StoredResult | undefined,
): readonly Compared[] {
  const all = result ? compareArms(experiment, result) : [];
  const own = all.filter(({ arm }) => arm === method);
  return own.length > 0 ? own : all;
}

/**
 * By method, for `docs/methods.md`: claims about it, its experiments, or what its experiment waits for.
 * @param judged every claim; one is about the claimant's recipe, unless rivals run it too and the claim has another name
 */
export function measuredMethods(
  results: Results,
  judged: readonly JudgedClaim[],
): ReadonlyMap<string, MeasuredMethod> {
  const claimsAbout = (method: string): MeasuredMethod['claims'] =>
    judged
      .filter(({ claim }) => {
        const claimant = claimantOf(claim);
        const shared = Object.entries(claim.arms).some(
          ([name, { recipe }]) => name !== claimant && recipe === method,
        );
        return claim.arms[claimant]!.recipe === method && (claim.id === method || !shared);
      })
      .map(({ claim, judgement }) => ({ id: claim.id, verdict: judgement.verdict }));
  const measured = new Map<string, MeasuredMethod>(
    Object.entries(pending).map(([method, what]) => [
      method,
      // Its links are written for the page of evidence.
      { claims: claimsAbout(method), waitsFor: what.replaceAll('](#', '](evidence.md#'), experiments: [] },
    ]),
  );
  for (const experiment of experiments) {
    const result = results.get(experiment.name);
    if (result === undefined) continue;
    const picture = picturePath(experiment, result);
    for (const method of experiment.methods) {
      const compared = comparedFor(method, experiment, result);
      const one = {
        name: experiment.name,
        figures: compared.map(differenceText).join('; '),
        ...(picture !== undefined && { picture }),
      };
      const before = measured.get(method)?.experiments ?? [];
      measured.set(method, { claims: claimsAbout(method), experiments: [...before, one] });
    }
  }
  return measured;
}

/** What was compared, what came of it, and in how many seeds it was as expected. */
export function differenceText(compared: Compared): string {
  const { figure, arm, against, expect, factor, margin = 0, difference, seeds, asExpected } = compared;
  const wanted = {
    higher: factor === undefined ? 'higher' : `more than ${factor} times as high`,
    lower: factor === undefined ? 'lower' : `more than ${factor} times lower`,
    'no-worse': `no lower than by ${margin}`,
  }[expect];
  const relation = factor === undefined ? 'minus' : 'divided by';
  return `${figure} of ${arm} ${relation} ${against}: ${numberText(difference)}, ${wanted} in ${asExpected} of ${seeds} seeds`;
}

/** Three digits. */
export function numberText(value: number): string {
  const digits = Math.abs(value) >= 100 ? value.toFixed(0) : Number(value.toPrecision(3)).toString();
  return digits.replace('-', '−');
}
