/** Draws one token from a row of logits. */

import type { TokenProbability } from '../../../policy/sampler.ts';

export interface TokenChoiceOptions {
  /** 0 is greedy. */
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
}

/** A token, with the whole distribution's log-probability and entropy at the sampling temperature (at 1 when greedy). */
export interface TokenChoice extends TokenProbability {
  /** In nats, of all that could have come. Whatever truncation did. */
  readonly entropy: number;
}

/** Reused from call to call: a decode step of many rows would otherwise leave megabytes to the garbage collector. */
let scratch_V = new Float64Array(0);

/**
 * The token that `uniform` in [0, 1) selects from softmax(logits / temperature). Truncation: first the `topK` most
 * probable tokens, then the smallest set of them whose renormalised probabilities sum to at least `topP`; equal
 * logits are ranked by token id.
 */
export function chooseToken(
  logits_V: Float32Array,
  options: TokenChoiceOptions,
  uniform: number,
): TokenChoice {
  let best = 0;
  for (let id = 1; id < logits_V.length; id++) if (logits_V[id]! > logits_V[best]!) best = id;
  const highest = logits_V[best]!;
  const greedy = options.temperature === 0;
  const inverse = greedy ? 1 : 1 / options.temperature;
  if (scratch_V.length !== logits_V.length) scratch_V = new Float64Array(logits_V.length);
  const weights_V = scratch_V;
  const total = exponentials(logits_V, highest, inverse, weights_V);
  const entropy = entropyOf(logits_V, highest, inverse, weights_V, total);
  const choice = (id: number): TokenChoice => ({
    id,
    logprob: (logits_V[id]! - highest) * inverse - Math.log(total),
    entropy,
  });
  if (greedy) return choice(best);
  const truncated = (options.topK > 0 && options.topK < logits_V.length) || options.topP < 1;
  if (!truncated) return choice(walk(weights_V, undefined, weights_V.length, uniform * total));
  const { ranking, kept, keptTotal } = truncate(weights_V, total, options);
  return choice(walk(weights_V, ranking, kept, uniform * keptTotal));
}

/** `chooseToken` among some ids alone, ascending: probabilities are renormalised over them. */
export function chooseAmong(
  logits_V: Float32Array,
  allowed: Int32Array,
  options: TokenChoiceOptions,
  uniform: number,
): TokenChoice {
  const { id, ...about } = chooseToken(logitsOf(allowed, logits_V), options, uniform);
  return { id: allowed[id]!, ...about };
}

const logitsOf = (ids: Int32Array, logits_V: Float32Array): Float32Array =>
  Float32Array.from(ids, (id) => logits_V[id]!);

/** The `count` likeliest tokens of those that are allowed, most probable first; equal logits are ranked by token id. */
export function likeliestTokens(
  logits_V: Float32Array,
  temperature: number,
  count: number,
  allowed?: Int32Array,
): TokenProbability[] {
  if (allowed) {
    const likeliest = likeliestTokens(logitsOf(allowed, logits_V), temperature, count);
    return likeliest.map(({ id, logprob }) => ({ id: allowed[id]!, logprob }));
  }
  const highest = logits_V.reduce((most, logit) => Math.max(most, logit), Number.NEGATIVE_INFINITY);
  const inverse = temperature === 0 ? 1 : 1 / temperature;
  let total = 0;
  for (const logit of logits_V) total += Math.exp((logit - highest) * inverse);
  const ids: number[] = [];
  for (let id = 0; id < logits_V.length; id++) {
    if (ids.length === count && logits_V[id]! <= logits_V[ids.at(-1)!]!) continue;
    const above = ids.findIndex((other) => logits_V[id]! > logits_V[other]!);
    ids.splice(above < 0 ? ids.length : above, 0, id);
    if (ids.length > count) ids.pop();
  }
  return ids.map((id) => ({ id, logprob: (logits_V[id]! - highest) * inverse - Math.log(total) }));
}

/** Fills `weights_V`, and returns their sum. A function of its own: a variable that a closure reads is boxed at every change. */
function exponentials(
  logits_V: Float32Array,
  highest: number,
  inverse: number,
  weights_V: Float64Array,
): number {
  let total = 0;
  for (let id = 0; id < logits_V.length; id++) {
    weights_V[id] = Math.exp((logits_V[id]! - highest) * inverse);
    total += weights_V[id]!;
  }
  return total;
}

/** log total - Σ w·x / total, of the weights w = exp(x). */
function entropyOf(
  logits_V: Float32Array,
  highest: number,
  inverse: number,
  weights_V: Float64Array,
  total: number,
): number {
  let sum = 0;
  for (let id = 0; id < logits_V.length; id++) {
    // A logit of -∞ has no weight, and its product would be no number.
    if (weights_V[id]! > 0) sum += weights_V[id]! * (logits_V[id]! - highest);
  }
  return Math.max(0, Math.log(total) - (sum * inverse) / total);
}

/**
 * The tokens that truncation keeps, ranked. Only those that could be among them are sorted: buckets of weights say which.
 * The result is that of sorting all.
 */
function truncate(
  weights_V: Float64Array,
  total: number,
  { topK, topP }: TokenChoiceOptions,
): { ranking: Uint32Array; kept: number; keptTotal: number } {
  const isCut = topK > 0 && topK < weights_V.length;
  const ranking = candidates(
    weights_V,
    isCut ? topK : weights_V.length,
    isCut ? Number.POSITIVE_INFINITY : topP * total,
  );
  const limit = isCut ? topK : ranking.length;
  let candidateTotal = 0;
  if (!isCut) candidateTotal = total;
  else for (let rank = 0; rank < limit; rank++) candidateTotal += weights_V[ranking[rank]!]!;
  let kept = 0;
  let keptTotal = 0;
  while (kept < limit && (kept === 0 || keptTotal < topP * candidateTotal))
    keptTotal += weights_V[ranking[kept++]!]!;
  return { ranking, kept, keptTotal };
}

/** 32 buckets for each halving of the weight, 64 halvings; what is smaller shares the last. */
const bucketCount = 2048;
const bucketBits = 15;
const highestWord = new Uint32Array(new Float64Array([1]).buffer)[1]!;
const sizes = new Uint32Array(bucketCount);
const masses = new Float64Array(bucketCount);

/**
 * At least the `count` largest of weights from 0 to 1, or else the largest that sum to `mass`, from the largest to the smallest,
 * equal ones by id. The upper half of a float orders weights as buckets do, so equal weights are in one bucket.
 */
function candidates(weights_V: Float64Array, count: number, mass: number): Uint32Array {
  const words = new Uint32Array(weights_V.buffer, weights_V.byteOffset, 2 * weights_V.length);
  sizes.fill(0);
  masses.fill(0);
  for (let id = 0; id < weights_V.length; id++) {
    const bucket = Math.min((highestWord - words[2 * id + 1]!) >>> bucketBits, bucketCount - 1);
    sizes[bucket]!++;
    masses[bucket]! += weights_V[id]!;
  }
  // The sum of buckets is rounded otherwise than that of weights one by one.
  const enough = mass * (1 + 1e-9);
  let last = 0;
  let number = sizes[0]!;
  let sum = masses[0]!;
  while (last < bucketCount - 1 && number < count && sum < enough) {
    number += sizes[++last]!;
    sum += masses[last]!;
  }
  const ids = new Uint32Array(number);
  let next = 0;
  for (let id = 0; id < weights_V.length; id++)
    if (Math.min((highestWord - words[2 * id + 1]!) >>> bucketBits, bucketCount - 1) <= last)
      ids[next++] = id;
  return ids.sort((a, b) => weights_V[b]! - weights_V[a]! || a - b);
}

/** The first of `count` tokens, in ranking order (or id order), at which the running weight exceeds `target`. */
function walk(
  weights_V: Float64Array,
  ranking: Uint32Array | undefined,
  count: number,
  target: number,
): number {
  let running = 0;
  let last = 0;
  for (let rank = 0; rank < count; rank++) {
    const id = ranking === undefined ? rank : ranking[rank]!;
    if (weights_V[id]! === 0) continue;
    last = id;
    running += weights_V[id]!;
    if (running > target) return id;
  }
  // Rounding can leave the sum a hair below the target; the last token with any weight is the one meant.
  return last;
}
