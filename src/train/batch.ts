/** From trajectories and their credit to training rows: every sampled token once, with its advantage and its weight. */

import { TurnwiseError } from '../core/errors.ts';
import type { Rng } from '../core/rng.ts';
import { buildSamples, type Sample } from '../core/sample.ts';
import { sampledTokens, type Trajectory } from '../core/trajectory.ts';
import { factsOf } from '../credit/facts.ts';
import type { CreditTrajectory, TrajectoryCredit } from '../credit/rollouts.ts';
import type { TokenRow } from '../engine/engine.ts';
import { type Aggregation, tokenWeights } from '../objective/weights.ts';

/** The samples of one trajectory, and what credit needs of it. */
export interface Candidate {
  readonly trajectory: Trajectory;
  readonly samples: readonly Sample[];
}

export function candidatesOf(trajectories: readonly Trajectory[]): Candidate[] {
  return trajectories.map((trajectory) => ({ trajectory, samples: buildSamples(trajectory) }));
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

/** What credit reads of a trajectory: what happened in it, what the environment said, and what was scored. */
export function creditInput(
  { trajectory, samples }: Candidate,
  rewardScale: number,
  { values, entropies, bonuses }: SampleScores = {},
): CreditTrajectory {
  const { id, groupId, role, outcome, success, stop, parent, sharedTurns } = trajectory;
  const valuesOf = values && byTurn(samples, values);
  const entropiesOf = entropies && byTurn(samples, entropies);
  const bonusesOf = bonuses && byTurn(samples, bonuses);
  const bonus_K = trajectory.turns.map((_, turn) => sumOf(bonusesOf?.get(turn) ?? []));
  const facts = trajectory.turns.map(({ info }, turn) => factsOf(info, `Turn ${turn} of ${id}`));
  return {
    id,
    groupId,
    role,
    episode: episodeOf(trajectory),
    outcome: outcome * rewardScale + sumOf(bonus_K),
    success,
    ...(parent !== undefined && { parent, sharedTurns: sharedTurns ?? 0 }),
    ...((stop === 'token-limit' || stop === 'context-overflow') && { overlong: true }),
    ...Object.assign({}, ...facts.map((fact) => fact.trajectory)),
    turns: trajectory.turns.map((turn, index) => {
      const { dense, counterfactual, ...rest } = facts[index]!.turn;
      return {
        reward: turn.reward * rewardScale + bonus_K[index]!,
        tokens: sampledTokens(turn),
        anchor: turn.anchor,
        valid: turn.valid,
        ...rest,
        ...(dense && { dense: dense.map((reward) => reward * rewardScale) }),
        ...(counterfactual !== undefined && { counterfactual: counterfactual * rewardScale }),
        ...(valuesOf && { values: valuesOf.get(index) ?? [] }),
        ...(entropiesOf && { entropies: entropiesOf.get(index) ?? [] }),
      };
    }),
  };
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

/** Numbers of sampled tokens, by the turn that sampled them. */
function byTurn(samples: readonly Sample[], numbers: readonly Float32Array[]): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (const [index, sample] of samples.entries()) {
    for (const [token, turn] of sample.turn_T.entries()) {
      if (turn < 0) continue;
      const list = found.get(turn) ?? [];
      list.push(numbers[index]![token]!);
      found.set(turn, list);
    }
  }
  return found;
}

/** The episode that roles share: where there are several, each trajectory's id ends with its role. */
function episodeOf({ id, role }: Trajectory): string {
  return id.endsWith(`/${role}`) ? id.slice(0, -role.length - 1) : id;
}

/** A sample with its per-token training targets; `weight` is set when minibatches are made. */
export interface CreditedSample {
  readonly sample: Sample;
  readonly advantages_T: Float32Array;
  readonly returns_T?: Float32Array;
  readonly values_T?: Float32Array;
  /** 1 where a value has something to learn, 0 elsewhere; absent where all sampled tokens have. */
  readonly targets_T?: Uint8Array;
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
  const nextToken = new Array<number>(trajectory.turns.length).fill(0);
  const firstToken = firstTokens(trajectory);
  return samples.map((sample, index) => {
    const advantages_T = new Float32Array(sample.ids_T.length);
    const returns_T = credit.returns_T && new Float32Array(sample.ids_T.length);
    const targets_T = credit.targets_T && new Uint8Array(sample.ids_T.length);
    let live = false;
    for (const [token, turn] of sample.turn_T.entries()) {
      if (turn < 0) continue;
      const position = nextToken[turn]!++;
      const place = firstToken[turn]! + position;
      const advantage = credit.tokenAdvantages_T?.[place] ?? credit.turnAdvantages_K[turn];
      if (advantage === undefined || !Number.isFinite(advantage)) {
        throw new TurnwiseError('advantage-not-finite', {
          what: `The credit method gave token ${position} of turn ${turn} of ${trajectory.id} no usable advantage`,
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

/** Where each turn's tokens begin among all that the policy sampled in the trajectory. */
function firstTokens({ turns }: Trajectory): number[] {
  let next = 0;
  return turns.map((turn) => {
    const first = next;
    next += sampledTokens(turn);
    return first;
  });
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

/**
 * Engine rows of one optimizer step: weights have the step's own denominator. Values are weighed like the tokens that they
 * are before; where only some have something to learn, their loss is a mean over these. `constant` is that of the aggregation.
 */
export function trainingRows(
  part: readonly CreditedSample[],
  aggregation: Aggregation,
  {
    constant,
    referenceLogprobs,
  }: { readonly constant?: number; readonly referenceLogprobs?: readonly Float32Array[] } = {},
): TokenRow[] {
  const weights = tokenWeights(
    part.map(({ sample }) => sample.mask_T),
    aggregation,
    constant,
  );
  const valueWeights = part.some(({ targets_T }) => targets_T)
    ? tokenWeights(
        part.map(({ targets_T, sample }) => targets_T ?? sample.mask_T),
        'token-mean',
      )
    : weights;
  return part.map((item, index) => ({
    ids_T: item.sample.ids_T,
    channels: {
      weight: weights[index]!,
      advantages: item.advantages_T,
      oldLogprobs: item.sample.logprobs_T,
      samplerLogprobs: item.sample.logprobs_T,
      turns: Float32Array.from(item.sample.turn_T, (turn) => turn + 1),
      ...(item.returns_T ? { returns: item.returns_T, valueWeight: valueWeights[index]! } : {}),
      ...(item.values_T ? { oldValues: item.values_T } : {}),
      ...(referenceLogprobs ? { referenceLogprobs: referenceLogprobs[index]! } : {}),
      ...item.channels,
    },
  }));
}
