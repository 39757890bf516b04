/** Rows with a teacher's likeliest tokens in the place of each token that is learned. */

import type { TopTokens } from '../../core/episode.ts';
import type { Sample } from '../../core/sample.ts';
import type { TokenRow } from '../../engine/token-batch.ts';
import { forwardKl } from '../../objective/imitation/forward-kl.ts';
import type { TrainConfig } from '../config/config.ts';
import type { Replayed } from '../kit/archive.ts';
import type { Trainer } from '../kit/trainer.ts';
import { averagedRows, recordedOf } from './rows.ts';

/** The log-probability of a token that is not there: its probability is 0. */
const NOTHING = -1e9;

/**
 * Rows of a mean over all chosen tokens, with channels `teacherIds` and `teacherLogprobs`. The teacher of the run is asked for
 * samples that have no likeliest tokens of their own.
 *
 * @throws TurnwiseError `teacher-missing`
 */
export async function taughtRows(
  episodes: readonly Replayed[],
  config: TrainConfig,
  trainer: Trainer,
): Promise<TokenRow[]> {
  const { top: wanted } = forwardKl.schema.parse(config.objective.options);
  const recorded = recordedOf(episodes);
  const samples = recorded.flatMap((one) => one.samples);
  const asked = samples.filter(({ top_T }) => top_T === undefined);
  const told = asked.length > 0 ? (await trainer.teacher().score(asked, { top: wanted })).top! : [];
  const given = new Map<Sample, TopTokens>(asked.map((sample, index) => [sample, told[index]!]));
  return averagedRows(recorded, (_, sample) => {
    const { ids, logprobs } = (sample.top_T ?? given.get(sample))!;
    const { length } = sample.ids_T;
    return {
      teacherIds: cutTo(Float32Array.from(ids), length, wanted, 0),
      teacherLogprobs: cutTo(logprobs, length, wanted, NOTHING),
    };
  });
}

/** `wanted` numbers for each of `length` tokens: the first ones, or all and `filler`. */
function cutTo(numbers: Float32Array, length: number, wanted: number, filler: number): Float32Array {
  const each = numbers.length / length;
  if (each === wanted) return numbers;
  const cut = new Float32Array(length * wanted).fill(filler);
  for (let token = 0; token < length; token++)
    cut.set(numbers.subarray(token * each, token * each + Math.min(each, wanted)), token * wanted);
  return cut;
}
