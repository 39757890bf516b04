/** The warm start: behaviour cloning of demonstrations, loss on the demonstrated actions only. */

import type { Group } from '../../core/episode.ts';
import { Rng } from '../../core/rng.ts';
import { type Sample, samplesOfTrajectory } from '../../core/sample.ts';
import { scheduleFactor } from '../../core/schedule.ts';
import { roleGroups } from '../../core/trajectory.ts';
import { batchOf } from '../../engine/token-batch.ts';
import { tokenWeights } from '../../objective/contract/weights.ts';
import { crossEntropy } from '../../objective/imitation/cross-entropy.ts';
import { renderDemonstrations } from '../../synth/demonstrations.ts';
import type { Learner } from '../kit/learner.ts';
import type { Metrics } from './events.ts';
import type { RunIo } from './loop.ts';

const SCHEDULE = { kind: 'cosine', warmupSteps: 20, finalFraction: 0.1 } as const;

/** Episodes to imitate: of scripts, in whatever words; or recorded ones, as this model reads and writes them. */
export type ToImitate =
  | { readonly demonstrations: readonly Group[] }
  | { readonly recorded: readonly Group[] };

export async function clone(
  learner: Learner,
  shown: ToImitate,
  io: Pick<RunIo, 'event' | 'signal'>,
): Promise<void> {
  const { config, engine } = learner;
  const { batch, learningRate } = config.clone;
  const samples = samplesToImitate(shown, learner);
  const steps = samples.length === 0 ? 0 : config.clone.steps;
  const rng = Rng.of('clone', config.seed);
  const objective = crossEntropy();
  for (let step = 0; step < steps && !io.signal.aborted; step++) {
    const chosen = Array.from({ length: batch }, () => rng.pick(samples));
    const weights = tokenWeights(
      chosen.map(({ mask_T }) => mask_T),
      'token-mean',
    );
    const rows = chosen.map(({ ids_T }, index) => ({ ids_T, channels: { weight: weights[index]! } }));
    const { loss, tokens } = await engine.forwardBackward(batchOf(rows), objective, { temperature: 1 });
    const rate = learningRate * scheduleFactor(SCHEDULE, step, steps);
    const { gradientNorm } = await engine.optimStep({
      learningRate: rate,
      beta1: 0.9,
      beta2: 0.98,
      epsilon: 1e-8,
      weightDecay: 0.01,
      clipNorm: 1,
    });
    const metrics: Metrics = {
      'clone/loss': loss,
      'optim/gradient_norm': gradientNorm,
      'optim/learning_rate': rate,
      'tokens/trained': tokens,
    };
    io.event({ type: 'clone', step: step + 1, steps, metrics });
  }
  // What follows is another loss: with these moments its first steps would go on where imitation was going.
  if (steps > 0) await engine.restartOptimizer();
  await engine.publish();
}

function samplesToImitate(shown: ToImitate, { renderer }: Pick<Learner, 'renderer'>): Sample[] {
  if ('recorded' in shown) {
    return roleGroups(shown.recorded).flatMap(({ members }) =>
      members.flatMap((episode) => samplesOfTrajectory(episode)),
    );
  }
  // Group by group, so that no more than the samples of all is in memory.
  return shown.demonstrations.flatMap((group) =>
    roleGroups([renderDemonstrations(group, renderer)])
      .flatMap(({ members }) => members)
      .flatMap((demonstration) => samplesOfTrajectory(demonstration, () => true)),
  );
}
