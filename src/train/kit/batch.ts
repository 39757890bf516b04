/** From trajectories and their credit to training rows: every sampled token once, with its advantage and its weight. */

import { TurnwiseError } from '../../core/errors.ts';
import type { Rng } from '../../core/rng.ts';
import { chosenMask, type Sample, samplesOfTrajectory } from '../../core/sample.ts';
import { isTrained, type Trajectory } from '../../core/trajectory.ts';
import type { TurnScores } from '../../credit/contract/view.ts';
import type { TrajectoryCredit } from '../../credit/report/rollouts.ts';
import type { TokenRow } from '../../engine/token-batch.ts';
import { type Aggregation, tokenWeights } from '../../objective/contract/weights.ts';

/** The samples of one trajectory, and what credit needs of it. */
export interface Candidate {
  readonly trajectory: Trajectory;
  readonly samples: readonly Sample[];
}

export function candidatesOf(trajectories: readonly Trajectory[]): Candidate[] {
  return trajectories.map((trajectory) => ({ trajectory, samples: samplesOfTrajectory(trajectory) }));
}

/** What was scored about the tokens of each sample of a trajectory, for methods that need it. */
export interface SampleScores {
  readonly values?: readonly Float32Array[];
  readonly entropies?: readonly Float32Array[];
  /** Under the weights before the step, where the sampler may differ from the trainer. */
  readonly logprobs?: readonly Float32Array[];
  /** Added to the rewards, such as a price of divergence. */
  readonly bonuses?: readonly Float32Array[];
}

/** The scores of a trajectory's tokens, turn by turn. */
export function turnScores(
  candidate: Candidate,
  { values, entropies, bonuses }: SampleScores = {},
): TurnScores[] {
  const valuesOf = values && numbersByTurn(candidate, values);
  const entropiesOf = entropies && numbersByTurn(candidate, entropies);
  const bonusesOf = bonuses && numbersByTurn(candidate, bonuses);
  return candidate.trajectory.turns.map((_, k) => ({
    ...(valuesOf && { values: valuesOf.get(k) ?? [] }),
    ...(entropiesOf && { entropies: entropiesOf.get(k) ?? [] }),
    ...(bonusesOf && { bonus: sumOf(bonusesOf.get(k) ?? []) }),
  }));
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

/** Numbers of sampled tokens, by the turn that sampled them; in a turn call after call, whichever samples these are in. */
export function numbersByTurn(
  { trajectory, samples }: Candidate,
  numbers: readonly Float32Array[],
): Map<number, readonly number[]> {
  const ofCall = new Map<number, number[]>();
  for (const [index, sample] of samples.entries()) {
    for (const [token, call] of sample.call_T.entries()) {
      if (call < 0) continue;
      const list = ofCall.get(call) ?? [];
      list.push(numbers[index]![token]!);
      ofCall.set(call, list);
    }
  }
  return new Map(
    trajectory.turns.map(({ calls }, turn) => [turn, calls.flatMap(({ id }) => ofCall.get(id) ?? [])]),
  );
}

/** A sample with its per-token training targets; `weight` is set when minibatches are made. */
export interface CreditedSample {
  readonly sample: Sample;
  readonly advantages_T: Float32Array;
  readonly returns_T?: Float32Array;
  readonly values_T?: Float32Array;
  /** 1 where a value has something to learn, 0 elsewhere; absent where all sampled tokens have. */
  readonly targets_T?: Uint8Array;
  /** Factors on the loss of its tokens; 0 is out of the loss. Absent where all are 1. */
  readonly weight_T?: Float32Array;
  /** What the loss reads besides, by channel; wins over what the sample says. */
  readonly channels?: Readonly<Record<string, Float32Array>>;
  /** False where every advantage is exactly 0, so that a pure policy gradient would compute nothing. */
  readonly live: boolean;
}

/** Spread a trajectory's advantages over the tokens that earned them. */
export function spreadCredit(
  { trajectory, samples }: Candidate,
  credit: TrajectoryCredit,
  values?: readonly Float32Array[],
): CreditedSample[] {
  const next = firstTokens(trajectory);
  return samples.map((sample, index) => {
    const advantages_T = new Float32Array(sample.ids_T.length);
    const returns_T = credit.returns_T && new Float32Array(sample.ids_T.length);
    const targets_T = credit.targets_T && new Uint8Array(sample.ids_T.length);
    let live = false;
    for (const [token, turn] of sample.turn_T.entries()) {
      if (turn < 0) continue;
      const call = sample.call_T[token]!;
      const place = next.get(call)!;
      next.set(call, place + 1);
      const advantage = credit.tokenAdvantages_T?.[place] ?? credit.turnAdvantages_K[turn];
      if (advantage === undefined || !Number.isFinite(advantage)) {
        throw new TurnwiseError('advantage-not-finite', {
          what: `The credit method gave token ${place} of ${trajectory.id}, in turn ${turn}, no usable advantage`,
          seen: String(advantage),
          allowed: 'a finite number for every sampled token',
          next: 'Check the method with `turnwise credit` on the stored rollouts',
        });
      }
      advantages_T[token] = advantage;
      live ||= advantage !== 0;
      if (returns_T) returns_T[token] = credit.returns_T![place]!;
      if (targets_T) targets_T[token] = credit.targets_T![place]!;
    }
    return {
      sample,
      advantages_T,
      live,
      ...(returns_T ? { returns_T } : {}),
      ...(targets_T ? { targets_T } : {}),
      ...(values ? { values_T: values[index]! } : {}),
    };
  });
}

/** Where each call's tokens begin among all that the policy sampled in the trajectory: turn after turn, call after call. */
function firstTokens({ turns }: Trajectory): Map<number, number> {
  const first = new Map<number, number>();
  let next = 0;
  for (const call of turns.flatMap(({ calls }) => calls.filter(isTrained))) {
    first.set(call.id, next);
    next += call.ids.length;
  }
  return first;
}

/** Cut the samples into `count` random parts of nearly equal size; none is empty. */
export function minibatches<T>(items: readonly T[], count: number, rng: Rng): T[][] {
  const shuffled = rng.shuffle(items);
  const parts = Math.max(1, Math.min(count, shuffled.length));
  return Array.from({ length: parts }, (_, part) =>
    shuffled.slice(
      Math.floor((part * shuffled.length) / parts),
      Math.floor(((part + 1) * shuffled.length) / parts),
    ),
  );
}

/** What the tokens of a sample were chosen among, as a field of its row. */
export const allowedIn = ({ allowed_T }: Sample): Pick<TokenRow, 'allowed_T'> =>
  allowed_T ? { allowed_T } : {};

/** Shares of the loss: tokens of weight 0 are not counted in what it is divided by, other weights are factors. */
function sharesOf(
  part: readonly CreditedSample[],
  maskOf: (item: CreditedSample) => Uint8Array,
  aggregation: Aggregation,
  constant?: number,
): Float32Array[] {
  const masks = part.map((item) => {
    const { weight_T } = item;
    return weight_T ? maskOf(item).map((bit, token) => (weight_T[token] === 0 ? 0 : bit)) : maskOf(item);
  });
  return tokenWeights(masks, aggregation, constant).map((share_T, index) => {
    const { weight_T } = part[index]!;
    return weight_T ? share_T.map((share, token) => share * weight_T[token]!) : share_T;
  });
}

/**
 * Engine rows of one optimizer step: weights have the step's own denominator, in which forced tokens do not count. Values are
 * weighed like the tokens that they are before, forced ones among them; where only some have something to learn, their loss is
 * a mean over these. `constant` is that of the aggregation.
 */
export function trainingRows(
  part: readonly CreditedSample[],
  aggregation: Aggregation,
  {
    constant,
    referenceLogprobs,
  }: { readonly constant?: number; readonly referenceLogprobs?: readonly Float32Array[] } = {},
): TokenRow[] {
  const weights = sharesOf(part, ({ sample }) => chosenMask(sample), aggregation, constant);
  const valueWeights = part.some(({ targets_T }) => targets_T)
    ? sharesOf(part, ({ targets_T, sample }) => targets_T ?? sample.mask_T, 'token-mean')
    : part.some(({ sample }) => sample.allowed_T)
      ? sharesOf(part, ({ sample }) => sample.mask_T, aggregation, constant)
      : weights;
  return part.map((item, index) => ({
    ids_T: item.sample.ids_T,
    mask_T: item.sample.mask_T,
    turn_T: item.sample.turn_T,
    ...allowedIn(item.sample),
    channels: {
      weight: weights[index]!,
      advantages: item.advantages_T,
      oldLogprobs: item.sample.logprobs_T,
      samplerLogprobs: item.sample.logprobs_T,
      ...(item.returns_T ? { returns: item.returns_T, valueWeight: valueWeights[index]! } : {}),
      ...(item.values_T ? { oldValues: item.values_T } : {}),
      ...(referenceLogprobs ? { referenceLogprobs: referenceLogprobs[index]! } : {}),
      ...item.channels,
    },
  }));
}
