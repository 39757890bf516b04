/** Policy gradient on the episodes of the step: credit, minibatches, gradients. What most recipes learn by. */

import type { JsonObject } from '../../core/json/json.ts';
import { batchOf } from '../../engine/token-batch.ts';
import type { EntropyHistory } from '../../objective/regularizer/entropy-smoothing.ts';
import { type CreditedSample, minibatches } from './batch.ts';
import { extendedEntropies, withSmoothing } from './entropy-channels.ts';
import { learning } from './learn.ts';
import { klInRewards } from './scores.ts';
import type { Trainer } from './trainer.ts';

/** The entropies of earlier steps, where an entropy bonus is smoothed towards them (EPO). */
type Memory = { readonly entropies?: EntropyHistory } & JsonObject;

export const policyGradient = learning<Memory>((config) => async (trainer, groups, at) => {
  const { objective: loss, optimizer } = config;
  const { candidates, samples_I, scores } = await trainer.credit(groups);
  const smoothed = loss.entropySmoothing > 0;
  const { entropies = [] } = at.memory;
  const lessons = samples_I.flat();
  const learned = smoothed ? withSmoothing(lessons, entropies, at, loss.smoothing.fades) : lessons;

  const valueOnly = trainer.valueHead && at.step <= loss.valueWarmup;
  const objective = trainer.objective({ valueOnly });
  const klInLoss = loss.klCoefficient > 0 && !klInRewards(config);
  const rng = trainer.rng('minibatches');
  let passed = 0;
  for (let epoch = 0; epoch < optimizer.epochs && learned.length > 0; epoch++) {
    for (const part of minibatches(learned, optimizer.minibatches, rng)) {
      const rows = trainer.rows(part, objective, klInLoss ? await referenceOf(trainer, part) : undefined);
      if (rows.length > 0) await trainer.policy.learn(batchOf(rows), objective);
      if (epoch === 0) passed += rows.length;
    }
  }
  const samples = candidates.flatMap((candidate) => candidate.samples);
  return {
    // A stage without smoothing leaves the history as it is.
    memory: smoothed ? { entropies: extendedEntropies(entropies, samples, scores) } : at.memory,
    metrics: { 'samples/learned_share': passed / Math.max(1, samples.length) },
  };
});

/** Log-probabilities of the warm start. */
async function referenceOf(
  { policy }: Trainer,
  part: readonly CreditedSample[],
): Promise<readonly Float32Array[]> {
  const samples = part.map(({ sample }) => sample);
  return (await policy.score(samples, { frozen: true })).logprobs;
}
