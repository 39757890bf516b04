/** The policy's own probability of the right answer, read after the prompt of every turn by teacher forcing. */

import type { TurnFacts } from '../../core/facts.ts';
import { samplesOfTrajectory } from '../../core/sample.ts';
import { actOf, type Trajectory } from '../../core/trajectory.ts';
import type { Trainer } from './trainer.ts';
import type { FoundFacts } from './turn-facts.ts';

/** A prompt with a truth behind it. */
interface Reading {
  readonly ids_T: Int32Array;
  /** Where the truth begins. */
  readonly from: number;
}

/**
 * `answerProbability` of every turn: the probability that the policy gives the truth of the task, a token on average
 * (`exp` of the mean log-probability of its tokens), in place of the completion that it sampled there. Of several truths the
 * likeliest counts.
 *
 * A turn that cannot be read, because the task has no truth, the context has no room for it or somebody else wrote the
 * turn, gained nothing, nor did the turn before it (`informationGain` 0).
 *
 * Source: arXiv 2510.14967, which scores the answer in the same way. Deviation: the answer is the whole completion that would
 * give it, in the wording and the action format of the run, with the token that ends a turn.
 *
 * @example
 * defineRecipe({ name: 'informed', needs: { truth: true }, turnFacts: truthProbabilities, settings: { credit: { method: 'igpo' } } });
 */
export const truthProbabilities: FoundFacts = {
  fields: ['turns[].answerProbability'],
  async find(trainer, trajectories) {
    const readings_IK = trajectories.map((trajectory) => readingsOf(trajectory, trainer));
    const rows = readings_IK.flat(2);
    const { logprobs } = rows.length > 0 ? await trainer.policy.score(rows.map(({ ids_T }) => ids_T)) : none;
    let next = 0;
    return readings_IK.map((readings_K) => {
      const probability_K = readings_K.map((readings) => {
        const own = readings.map(({ from }) => perToken(logprobs[next++]!, from));
        return own.length > 0 ? Math.max(...own) : undefined;
      });
      return probability_K.map((answerProbability, k): TurnFacts => {
        const isKnown = answerProbability !== undefined;
        const gains = isKnown && (k === probability_K.length - 1 || probability_K[k + 1] !== undefined);
        return { ...(isKnown && { answerProbability }), ...(!gains && { informationGain: 0 }) };
      });
    });
  },
};

const none = { logprobs: [] as Float32Array[] };

/** Probability of the tokens from `from` on, a token on average. */
function perToken(logprobs_T: Float32Array, from: number): number {
  let sum = 0;
  for (let token = from; token < logprobs_T.length; token++) sum += logprobs_T[token]!;
  return Math.exp(sum / (logprobs_T.length - from));
}

/** For each turn the truths behind its prompt, as far as there is room. */
function readingsOf(trajectory: Trajectory, trainer: Trainer): Reading[][] {
  const truths = trainer.truth(trajectory.episode.task).map((text) => trainer.renderer.completionIds(text));
  const prompts = promptsByCall(trajectory);
  return trajectory.turns.map((turn) => {
    const prompt_T = prompts.get(actOf(turn)?.id ?? -1);
    if (prompt_T === undefined) return [];
    return truths
      .filter(({ length }) => length > 0 && prompt_T.length + length <= trainer.contextLength)
      .map((truth) => ({ ids_T: Int32Array.of(...prompt_T, ...truth), from: prompt_T.length }));
  });
}

/** What the policy had read when it began each call. */
function promptsByCall(trajectory: Trajectory): ReadonlyMap<number, Int32Array> {
  const prompts = new Map<number, Int32Array>();
  for (const { ids_T, call_T } of samplesOfTrajectory(trajectory)) {
    for (const [token, call] of call_T.entries()) {
      if (call >= 0 && !prompts.has(call)) prompts.set(call, ids_T.subarray(0, token));
    }
  }
  return prompts;
}
