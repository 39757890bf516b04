/** What was measured of a method: the comparisons of every experiment about it, in figures and in one line. */

import type { MeasuredMethod } from '../../src/cli/methods-page.ts';
import { picturePath } from './curve-picture.ts';
import type { Experiment, StoredResult } from './experiment.ts';
import { experiments, pending } from './experiments.ts';
import { type Compared, compareArms, overallVerdict } from './verdict.ts';

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

/** By method, for `docs/methods.md`: its experiments, or what its experiment waits for. */
export function measuredMethods(results: Results): ReadonlyMap<string, MeasuredMethod> {
  const measured = new Map<string, MeasuredMethod>(
    Object.entries(pending).map(([method, what]) => [
      method,
      // Its links are written for the page of evidence.
      { waitsFor: what.replaceAll('](#', '](evidence.md#'), experiments: [] },
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
        verdict: overallVerdict(compared),
        figures: compared.map(differenceText).join('; '),
        seeds: seedsOf(result),
        ...(picture !== undefined && { picture }),
      };
      measured.set(method, { experiments: [...(measured.get(method)?.experiments ?? []), one] });
    }
  }
  return measured;
}

/** What was compared, what came of it, and what was expected. */
export function differenceText(compared: Compared): string {
  const { figure, arm, against, expect, factor, margin, difference, interval } = compared;
  const { low, high } = interval;
  const wanted =
    expect === 'no-worse'
      ? `no worse than −${margin ?? 0} expected`
      : factor === undefined
        ? `${expect} expected`
        : `${factor} times ${expect} expected`;
  const relation = factor === undefined ? 'minus' : 'divided by';
  return `${figure} of ${arm} ${relation} ${against}: ${numberText(difference)} [${numberText(low)}, ${numberText(high)}], ${wanted}`;
}

export function seedsOf({ runs }: StoredResult): number {
  return Math.min(...Object.values(runs).map((list) => list.length));
}

/** Three digits. */
export function numberText(value: number): string {
  const digits = Math.abs(value) >= 100 ? value.toFixed(0) : Number(value.toPrecision(3)).toString();
  return digits.replace('-', '−');
}
