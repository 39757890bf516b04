/** What a policy is worth on held-out tasks, and what is told of it. */

import type { Group } from '../../core/episode.ts';
import { evaluate } from '../../eval/evaluate.ts';
import { type Learner, playOptions } from '../kit/learner.ts';
import type { EvaluationMoment, EvaluationResult, Phase, Spend } from './events.ts';
import type { RunIo } from './loop.ts';

/** At temperature 1 and greedily. */
export interface Evaluations {
  readonly sampled: EvaluationResult;
  readonly greedy: EvaluationResult;
}

/** The episodes of an evaluation. */
export interface Played {
  readonly sampled: readonly Group[];
  readonly greedy: readonly Group[];
}

/** Play held-out tasks at temperature 1 and greedily; report and keep the episodes. */
export async function evaluateBoth(
  learner: Learner,
  label: 'before' | 'during' | 'after',
  step: number,
  spent: Spend,
  io: RunIo,
): Promise<Evaluations> {
  const { evaluation } = learner.config;
  await learner.seats?.before(0);
  const tasks = label === 'during' ? evaluation.tasks : evaluation.finalTasks;
  reportEpisodes(io, 'evaluate', label)(0, tasks);
  const play = async (temperature: number) =>
    evaluate({
      ...playOptions(learner, io.signal),
      split: evaluation.split,
      step,
      tasks,
      sampling: { temperature, topP: 1, topK: 0 },
      onEpisode: reportEpisodes(io, 'evaluate', label),
    });
  const sampled = await play(1);
  const greedy = await play(0);
  io.event({ type: 'evaluation', step, label, sampled: sampled.result, greedy: greedy.result, spent });
  await io.evaluation(step, { sampled: sampled.groups, greedy: greedy.groups });
  return { sampled: sampled.result, greedy: greedy.result };
}

/** Tells whoever watches how many episodes are played, and in which evaluation. */
export function reportEpisodes(
  io: Pick<RunIo, 'progress'>,
  phase: Phase,
  moment?: EvaluationMoment,
): (done: number, total: number) => void {
  const where = { type: 'progress', phase, ...(moment && { moment }), waitingFor: 'episodes' } as const;
  return (done, total) => io.progress({ ...where, done, total });
}
