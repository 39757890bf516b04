/**
 * CycleQD's crossover: a child of several adapters (or fine-tuned models), as base + a weighted mean of their differences
 * from it. Pure, over named arrays of weights.
 *
 *   child = base + Σ_i ω_i·(parent_i - base) / Σ_i ω_i,   ω_i ~ N(1, std²)
 *
 * Source: "Agent Skill Acquisition for Large Language Models via CycleQD", arXiv 2410.14735.
 * 1. Without a base the parents are differences already, such as full adapter products.
 * 2. Arrays are merged one by one: the two factors of a low-rank adapter, merged apart, are not the merged product.
 * 3. Draws whose weights sum to nearly nothing are refused rather than divided by.
 * 4. Mutation by singular values, archives and their cyclic order are the search around it, and are not here.
 */

import { TurnwiseError } from '../../core/errors.ts';
import type { Rng } from '../../core/rng.ts';

/** Weights by name. */
export type NamedWeights = ReadonlyMap<string, Float32Array>;

export interface MergeOptions {
  /** What the parents were fine-tuned from; 0 everywhere without it. */
  readonly base?: NamedWeights;
}

/** ω: how much each of `count` parents counts, drawn around 1. */
export function drawMixture(count: number, rng: Rng, std = 0.01): number[] {
  return Array.from({ length: count }, () => 1 + std * rng.normal());
}

/**
 * The child of `parents` with the given mixture, which need not sum to 1. Inputs are left alone.
 *
 * @throws TurnwiseError `merge-weights` for a mixture that does not fit, `merge-shapes` for arrays that do not
 */
export function mergeAdapters(
  parents: readonly NamedWeights[],
  mixture: readonly number[],
  { base }: MergeOptions = {},
): Map<string, Float32Array> {
  const total = mixture.reduce((sum, weight) => sum + weight, 0);
  if (parents.length === 0 || mixture.length !== parents.length || !(Math.abs(total) > 1e-6)) {
    throw new TurnwiseError('merge-weights', {
      what: 'Merging needs one weight for each of its parents, and a sum that can be divided by',
      seen: `${parents.length} parents, weights ${mixture.join(', ') || 'none'}`,
      allowed: 'as many finite weights as parents, whose sum is not 0',
    });
  }
  const names = [...parents[0]!.keys()];
  for (const weights of base ? [...parents, base] : parents) requireSameShapes(parents[0]!, weights);
  return new Map(
    names.map((name) => {
      const origin = base?.get(name);
      const child = new Float32Array(parents[0]!.get(name)!.length);
      for (let index = 0; index < child.length; index++) {
        let sum = 0;
        for (let parent = 0; parent < parents.length; parent++) {
          sum += (mixture[parent]! / total) * (parents[parent]!.get(name)![index]! - (origin?.[index] ?? 0));
        }
        child[index] = (origin?.[index] ?? 0) + sum;
      }
      return [name, child];
    }),
  );
}

function requireSameShapes(expected: NamedWeights, seen: NamedWeights): void {
  for (const name of new Set([...expected.keys(), ...seen.keys()])) {
    const [wanted, found] = [expected.get(name)?.length, seen.get(name)?.length];
    if (wanted === found) continue;
    throw new TurnwiseError('merge-shapes', {
      what: `Only weights of the same names and sizes can be merged, and "${name}" differs`,
      seen: `${found ?? 'no'} numbers`,
      allowed: `${wanted ?? 'no'} numbers`,
      fields: { name },
    });
  }
}
