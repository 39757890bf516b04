/** Choosing a token of 49,152 from its logits: with and without truncation, among choices, and beside sorting all of them. */

import { Rng } from '../../src/core/rng.ts';
import {
  chooseAmong,
  chooseToken,
  type TokenChoiceOptions,
} from '../../src/engine/embedded/sampling/token-choice.ts';
import { median } from './sampling.ts';

const vocabulary = 49_152;
const rounds = 40;

/** Milliseconds a token, medians, all in the same rounds. */
export function benchChoosing(): Readonly<Record<string, number>> {
  const rng = Rng.of('choosing');
  // About as peaked as a language model is in the middle of a sentence.
  const rows = Array.from({ length: rounds }, () =>
    Float32Array.from({ length: vocabulary }, () => 3 * rng.normal()),
  );
  const among = Int32Array.of(1110, 2771, 4488, 8842);
  const whole = { temperature: 1, topP: 1, topK: 0 };
  const ways: Record<string, (logits: Float32Array) => unknown> = {
    'all tokens': (logits) => chooseToken(logits, whole, 0.5),
    'topP 0.9': (logits) => chooseToken(logits, { ...whole, topP: 0.9 }, 0.5),
    'topK 50': (logits) => chooseToken(logits, { ...whole, topK: 50 }, 0.5),
    'topP 0.9, sorting all': (logits) => sortingAll(logits, { ...whole, topP: 0.9 }),
    'four choices': (logits) => chooseAmong(logits, among, whole, 0.5),
  };
  const times = Object.fromEntries(Object.keys(ways).map((name) => [name, [] as number[]]));
  for (const logits of rows) {
    for (const [name, way] of Object.entries(ways)) {
      const start = performance.now();
      way(logits);
      times[name]!.push(performance.now() - start);
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, list]) => [name, median(list)]));
}

/** What truncation took when it sorted the whole vocabulary. */
function sortingAll(logits: Float32Array, { topP }: TokenChoiceOptions): number {
  const highest = logits.reduce((most, logit) => Math.max(most, logit), Number.NEGATIVE_INFINITY);
  const weights = Float64Array.from(logits, (logit) => Math.exp(logit - highest));
  const ranking = Uint32Array.from(weights, (_, id) => id).sort((a, b) => weights[b]! - weights[a]! || a - b);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let kept = 0;
  for (let sum = 0; sum < topP * total; ) sum += weights[ranking[kept++]!]!;
  return ranking[kept - 1]!;
}
