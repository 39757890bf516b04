/** What a policy is worth on test tasks, and what is told of it. */

import type { Group } from '../../core/episode.ts';
import { evaluate } from '../../eval/evaluate.ts';
import { evaluationOptions, type Learner } from '../kit/learner.ts';
import type { EvaluationMoment, Evaluations, Phase, Spend, StoredEvent } from './events.ts';
import type { RunIo } from './loop.ts';
import type { OwnProbe } from './probe.ts';

/** The episodes of an evaluation. */
export interface Played {
  readonly sampled: readonly Group[];
  readonly greedy: readonly Group[];
}

/** Play test tasks at temperature 1, and greedily if that is set, and keep the episodes. `event` tells of it. */
export async function evaluateHeldOut(
  learner: Learner,
  label: 'before' | 'during' | 'after',
  step: number,
  spent: Spend,
  io: RunIo,
): Promise<{ readonly result: Evaluations; readonly event: StoredEvent }> {
  const { evaluation } = learner.config;
  await learner.seats?.before(0);
  const tasks = label === 'during' ? evaluation.tasks : evaluation.finalTasks;
  const play = async (temperature: number) => {
    const report = reportEpisodes(io, 'evaluate', label, temperature === 0);
    report(0, tasks);
    return evaluate({
      ...evaluationOptions(learner, io.signal),
      split: evaluation.split,
      step,
      tasks,
      sampling: { temperature, topP: 1, topK: 0 },
      constrained: evaluation.constrained,
      onEpisode: report,
    });
  };
  const sampled = await play(1);
  const greedy = evaluation.greedy ? await play(0) : undefined;
  await io.evaluation(step, { sampled: sampled.groups, greedy: greedy?.groups ?? [] });
  const result = { sampled: sampled.result, ...(greedy && { greedy: greedy.result }) };
  return { result, event: { type: 'evaluation', step, label, ...result, spent } };
}

/** Evaluations during training; the last step has one of its own. */
export function evaluationProbe(learner: Learner, io: RunIo): OwnProbe {
  return {
    name: 'evaluation',
    every: learner.config.evaluation.every,
    run: async (_, { step, last, spent }) => {
      if (last) return {};
      const { event } = await evaluateHeldOut(learner, 'during', step, spent, io);
      return { events: [event] };
    },
  };
}

/** Tells whoever watches how many episodes are played, and in which evaluation. */
export function reportEpisodes(
  io: Pick<RunIo, 'progress'>,
  phase: Phase,
  moment?: EvaluationMoment,
  greedy = false,
): (done: number, total: number) => void {
  const where = {
    type: 'progress',
    phase,
    ...(moment && { moment }),
    ...(greedy && { greedy }),
    waitingFor: 'episodes',
  } as const;
  return (done, total) => io.progress({ ...where, done, total });
}
