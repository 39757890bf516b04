/**
 * The warm start: behaviour cloning of demonstrations, loss on the demonstrated actions only. Where a model is to write valid
 * turns and no more, it ends when it does.
 */

import type { Call, Group } from '../../core/episode.ts';
import { Rng } from '../../core/rng.ts';
import { type Sample, samplesOfTrajectory } from '../../core/sample.ts';
import { scheduleFactor } from '../../core/schedule.ts';
import { roleGroups } from '../../core/trajectory.ts';
import { batchOf } from '../../engine/token-batch.ts';
import { evaluate } from '../../eval/evaluate.ts';
import { tokenWeights } from '../../objective/contract/weights.ts';
import { crossEntropy } from '../../objective/imitation/cross-entropy.ts';
import { renderDemonstrations } from '../../synth/render-calls.ts';
import type { TrainConfig } from '../config/config.ts';
import { evaluationOptions, type Learner } from '../kit/learner.ts';
import { reportEpisodes } from './evaluations.ts';
import type { Metrics } from './events.ts';
import type { RunIo } from './loop.ts';
import { rolloutMetrics } from './metrics.ts';

/**
 * Updates before the first check and from one to the next, and the training tasks that a check plays. Turns become valid
 * before they become good: SmolLM2-135M on guess-number has 99% after 4 updates, and a success of 0.25.
 */
const CHECK = { from: 12, every: 4, tasks: 32 } as const;

/** Whether the completion of a script is a target: a random move may be there only to lead to other states. */
export function isImitated(
  { by }: Call,
  { imitateRandom }: Pick<TrainConfig['clone'], 'imitateRandom'>,
): boolean {
  return imitateRandom || by.name !== 'random';
}

/** Episodes to imitate: of scripts, in whatever words; or recorded ones, as this model reads and writes them. */
export type ToImitate =
  | { readonly demonstrations: readonly Group[] }
  | { readonly recorded: readonly Group[] };

export async function clone(
  learner: Learner,
  shown: ToImitate,
  io: Pick<RunIo, 'event' | 'progress' | 'signal'>,
): Promise<void> {
  const { config, engine } = learner;
  const { batch, learningRate, untilValid, schedule, warmupSteps } = config.clone;
  const samples = samplesToImitate(shown, learner);
  const steps = samples.length === 0 ? 0 : config.clone.steps;
  const rng = Rng.of('clone', config.seed);
  const objective = crossEntropy();
  const checks = steps > 0 && untilValid > 0;
  let done = 0;
  if (checks) {
    const start = await check(learner, io, 'start');
    io.event({ type: 'clone', step: 0, steps, metrics: start });
    // A policy whose turns are all valid may still be one that never succeeds, from which nothing can be reinforced.
    if (start['clone/valid_share']! >= untilValid && start['clone/success']! > 0) done = steps;
  }
  const planned = steps - done;
  for (; done < steps && !io.signal.aborted; done++) {
    io.progress({ type: 'progress', phase: 'clone', done, total: steps, waitingFor: 'gradient steps' });
    const chosen = Array.from({ length: batch }, () => rng.pick(samples));
    const weights = tokenWeights(
      chosen.map(({ mask_T }) => mask_T),
      'token-mean',
    );
    const rows = chosen.map(({ ids_T }, index) => ({ ids_T, channels: { weight: weights[index]! } }));
    const { loss, tokens } = await engine.forwardBackward(batchOf(rows), objective, { temperature: 1 });
    const rate =
      learningRate * scheduleFactor({ kind: schedule, warmupSteps, finalFraction: 0.1 }, done, steps);
    const { gradientNorm } = await engine.optimStep({
      learningRate: rate,
      beta1: 0.9,
      beta2: 0.98,
      epsilon: 1e-8,
      weightDecay: 0.01,
      clipNorm: 1,
    });
    const isChecked = checks && done + 1 >= CHECK.from && (done + 1) % CHECK.every === 0;
    const checked = isChecked ? await check(learner, io, 'train') : undefined;
    const metrics: Metrics = {
      'clone/loss': loss,
      'optim/gradient_norm': gradientNorm,
      'optim/learning_rate': rate,
      'tokens/trained': tokens,
      ...checked,
    };
    io.event({ type: 'clone', step: done + 1, steps, metrics });
    if (checked && checked['clone/valid_share']! >= untilValid) break;
  }
  // What follows is another loss: with these moments its first steps would go on where imitation was going.
  if (planned > 0) await engine.restartOptimizer();
  await engine.publish();
}

/**
 * How the policy plays now, sampled: before anything is imitated on test tasks, the same that are played before and after
 * training, and later on training tasks.
 */
async function check(
  learner: Learner,
  io: Pick<RunIo, 'progress' | 'signal'>,
  when: 'start' | 'train',
): Promise<Metrics> {
  const { evaluation } = learner.config;
  const tasks = when === 'start' ? evaluation.finalTasks : CHECK.tasks;
  const report = reportEpisodes(io, 'evaluate', when === 'start' ? 'before' : 'check');
  report(0, tasks);
  await learner.engine.publish();
  const { result, groups } = await evaluate({
    ...evaluationOptions(learner, io.signal),
    split: when === 'start' ? evaluation.split : 'train',
    step: 0,
    tasks,
    sampling: { temperature: 1, topP: 1, topK: 0 },
    onEpisode: report,
  });
  return {
    // Where all episodes failed no turn was valid.
    'clone/valid_share': 1 - (rolloutMetrics(groups)['turns/invalid_share'] ?? 1),
    'clone/success': result.success,
    'clone/checked_episodes': result.episodes,
  };
}

function samplesToImitate(shown: ToImitate, { config, engine, renderer }: Learner): Sample[] {
  if ('recorded' in shown) {
    return roleGroups(shown.recorded).flatMap(({ members }) =>
      members.flatMap((episode) => samplesOfTrajectory(episode)),
    );
  }
  // Group by group, so that no more than the samples of all is in memory.
  return shown.demonstrations.flatMap((group) =>
    roleGroups([renderDemonstrations(group, renderer)])
      .flatMap(({ members }) => members)
      .flatMap((demonstration) =>
        samplesOfTrajectory(demonstration, (call) => isImitated(call, config.clone)),
      )
      .filter(({ ids_T }) => ids_T.length <= engine.capabilities.contextLength),
  );
}
