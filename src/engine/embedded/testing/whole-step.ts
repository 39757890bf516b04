/** A step for tests of objectives: several rows to a sequence, pairs, and whatever any objective reads. */

import { Rng } from '../../../core/rng.ts';
import type { StepStructure } from '../../../objective/contract/objective.ts';
import type { Engine, TokenBatch } from '../../engine.ts';
import { batchOf } from '../../token-batch.ts';
import { randomBatch } from './tiny-engine.ts';

/** Six rows of three sequences, with everything that any objective reads. */
export async function stepFor(engine: Pick<Engine, 'score'>): Promise<TokenBatch & StepStructure> {
  const rng = Rng.of('step');
  const { rows } = randomBatch([9, 3, 14, 6, 7, 2]);
  const { logprobs } = await engine.score({ rows }, { temperature: 1 });
  const filled = rows.map(({ ids_T }, row) => {
    const draw = (low: number, high: number): Float32Array =>
      Float32Array.from(ids_T, () => low + (high - low) * rng.next());
    const near = (spread: number): Float32Array =>
      logprobs[row]!.map((value) => value + spread * rng.normal());
    const turn_T = Int32Array.from(ids_T, (_, token) => Math.floor(token / 3));
    const weight = Float32Array.from(ids_T, (_, token) => (token === 0 || token % 4 === 3 ? 0 : 1 / 24));
    const flag = (share: number): Float32Array => Float32Array.from(ids_T, () => (rng.chance(share) ? 1 : 0));
    const channels = {
      weight,
      imitation: Float32Array.from(ids_T, (_, token) => (token % 4 === 3 ? 1 / 8 : 0)),
      advantages: draw(-1, 1),
      oldLogprobs: near(0.3),
      rolloutLogprobs: near(0.3),
      referenceLogprobs: near(0.3),
      returns: draw(0, 1),
      oldValues: draw(-0.3, 0.3),
      rewards: draw(0, 1),
      replay: new Float32Array(ids_T.length).fill(row % 2),
      historicEntropies: draw(1, 3),
      smoothing: new Float32Array(ids_T.length).fill(1),
      actionStart: flag(0.5),
      actionEnd: flag(0.5),
      q1Target: draw(0, 1),
      q2Target: draw(0, 1),
      v1Target: draw(0, 1),
      v2Target: draw(0, 1),
      teacherIds: Float32Array.from({ length: 20 * ids_T.length }, (_, place) => (7 * place) % 11),
      teacherLogprobs: Float32Array.from({ length: 20 * ids_T.length }, (_, place) => -3 - (place % 5)),
    };
    return { ids_T, mask_T: new Uint8Array(ids_T.length).fill(1), turn_T, channels };
  });
  return {
    ...batchOf(filled),
    sequences: [
      { rows: [0, 1], reward: 1 },
      { rows: [2], reward: 0 },
      { rows: [3, 4, 5], reward: 0.5 },
    ],
    pairs: [
      [0, 1],
      [2, 1],
    ],
  };
}
