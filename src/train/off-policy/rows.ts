/** Recorded episodes as rows of numbers by token. */

import { chosenMask, type Sample, samplesOfTrajectory } from '../../core/sample.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import type { TokenRow } from '../../engine/token-batch.ts';
import { tokenWeights } from '../../objective/contract/weights.ts';
import { allowedIn } from '../kit/batch.ts';

/** An episode and its samples: one row each. */
export interface Recorded {
  readonly episode: Trajectory;
  readonly samples: readonly Sample[];
}

export function recordedOf(episodes: readonly Trajectory[]): Recorded[] {
  return episodes.map((episode) => ({ episode, samples: samplesOfTrajectory(episode) }));
}

/** A row of a sum over sequences: weight 1 on the chosen tokens of the turns that count. */
export function countedRow(sample: Sample, counts: (turn: number) => boolean = () => true): TokenRow {
  const chosen_T = chosenMask(sample);
  return {
    ids_T: sample.ids_T,
    turn_T: sample.turn_T,
    ...allowedIn(sample),
    channels: {
      weight: Float32Array.from(sample.turn_T, (turn, token) =>
        turn >= 0 && chosen_T[token] === 1 && counts(turn) ? 1 : 0,
      ),
      oldLogprobs: sample.logprobs_T,
      samplerLogprobs: sample.logprobs_T,
    },
  };
}

/**
 * Rows of a mean over all chosen tokens, or those that are `counted`, with further channels that `numbers` gives for each.
 */
export function averagedRows(
  recorded: readonly Recorded[],
  numbers: (
    episode: Trajectory,
    sample: Sample,
    index: number,
  ) => Readonly<Record<string, Float32Array>> = () => ({}),
  counted: (sample: Sample) => Uint8Array = chosenMask,
): TokenRow[] {
  const all = recorded.flatMap(({ episode, samples }) => samples.map((sample) => ({ episode, sample })));
  const weights = tokenWeights(
    all.map(({ sample }) => counted(sample)),
    'token-mean',
  );
  return all.map(({ episode, sample }, index) => ({
    ids_T: sample.ids_T,
    mask_T: sample.mask_T,
    turn_T: sample.turn_T,
    ...allowedIn(sample),
    channels: { weight: weights[index]!, ...numbers(episode, sample, index) },
  }));
}

/** A number for every turn on each of the tokens that the turn sampled, 0 elsewhere. */
export function onTurns(sample: Sample, ofTurn: (turn: number) => number): Float32Array {
  return Float32Array.from(sample.turn_T, (turn) => (turn < 0 ? 0 : ofTurn(turn)));
}

/** A number for every turn on the last of its tokens, 0 elsewhere. */
export function onTurnEnds(sample: Sample, ofTurn: (turn: number) => number): Float32Array {
  return Float32Array.from(sample.turn_T, (turn, token) =>
    turn < 0 || sample.turn_T[token + 1] === turn ? 0 : ofTurn(turn),
  );
}

/** Σ discount^k r over the turns from each on. */
export function turnReturns({ turns }: Trajectory, discount: number, rewardScale: number): number[] {
  const returns = new Array<number>(turns.length);
  let next = 0;
  for (let turn = turns.length - 1; turn >= 0; turn--) {
    next = turns[turn]!.reward * rewardScale + discount * next;
    returns[turn] = next;
  }
  return returns;
}
