/** What a run of a pretrained model will take, told before its first phase; and evaluations that fit it. */

import type { Group } from '../../core/episode.ts';
import type { TrainConfig } from '../../train/config/config.ts';
import type { Learner } from '../../train/kit/learner.ts';
import type { EstimateEvent } from '../../train/loop/events.ts';
import type { MemoryEstimate } from './memory.ts';
import type { Timing } from './timing.ts';
import { type Workload, workloadOf } from './workload.ts';

/** Evaluations take at most this share of a run. */
const EVALUATION_SHARE = 0.1;
/** Fewer tasks say nothing, and more are not asked for by default. */
const TASKS = { least: 8, most: 64 } as const;

/** Seconds of one step, by what takes them. */
export interface StepSeconds {
  readonly reading: number;
  readonly sampling: number;
  readonly learning: number;
}

/** The estimate of a run whose engine was timed. */
export function estimateOf(
  learner: Learner,
  demonstrations: readonly Group[],
  timing: Timing,
  memory: MemoryEstimate,
  free: number,
): EstimateEvent {
  const { config, renderer, world } = learner;
  const work = workloadOf(learner, demonstrations);
  const seconds = stepSeconds(work, timing, config);
  const episode = episodeSeconds(work, timing, seconds);
  const limits = { written: renderer.maxTurnTokens, turns: config.rollout.maxTurns || world.maxTurns };
  const unpractised = { ...work, ...limits };
  const first = episodeSeconds(unpractised, timing, stepSeconds(unpractised, timing, config));
  const evaluation = evaluationSizes(config, seconds, episode, first);
  const step = seconds.reading + seconds.sampling + seconds.learning;
  const imitated = work.common + config.clone.batch * (work.longest - work.common);
  const imitating = config.clone.steps * imitated * timing.learnToken;
  const startEpisodes = config.clone.steps > 0 ? evaluation.finalTasks : 0;
  const evaluating = startEpisodes * first + evaluatedEpisodes(config, evaluation) * episode;
  return {
    type: 'estimate',
    seconds: {
      ...seconds,
      step,
      episode,
      unpractised: first,
      imitating,
      evaluating,
      total: imitating + evaluating + config.steps * step,
    },
    memory: { needed: memory.total, free },
    evaluation,
  };
}

export function stepSeconds(work: Workload, timing: Timing, config: TrainConfig): StepSeconds {
  const { episodes, tasks, opening, common, shown, written, turns } = work;
  const rows = Math.min(episodes, config.rollout.concurrency);
  const rounds = Math.ceil(episodes / rows);
  const decode = timing.decodeStep + (rows - 1) * timing.decodeRow;
  const later = episodes * (turns - 1) * shown;
  // The opening of a task is learned from once.
  const learned = tasks * opening + episodes * turns * written + later;
  return {
    // What prompts begin with is read once, by whatever reads it first.
    reading: (common + tasks * (opening - common) + later) * timing.readToken,
    sampling: rounds * turns * written * decode,
    learning: (config.prompts.alone ? 0 : learned) * timing.learnToken * config.optimizer.epochs,
  };
}

/** An episode of an evaluation, whose task no other plays. */
export function episodeSeconds(
  { episodes, opening, common, shown, turns }: Workload,
  timing: Timing,
  { sampling }: StepSeconds,
): number {
  return (opening - common + (turns - 1) * shown) * timing.readToken + sampling / episodes;
}

/** Evaluations while the run trains. */
const during = ({ evaluation, steps }: Pick<TrainConfig, 'evaluation' | 'steps'>): number =>
  evaluation.every === 0 ? 0 : Math.max(0, Math.ceil(steps / evaluation.every) - 1);

/** Episodes of the evaluations before, during and after reinforcement. */
function evaluatedEpisodes(
  config: Pick<TrainConfig, 'evaluation' | 'steps' | 'clone'>,
  { tasks, finalTasks }: EstimateEvent['evaluation'],
): number {
  const ways = config.evaluation.greedy ? 2 : 1;
  return ways * (2 * finalTasks + during(config) * tasks);
}

/** Tasks of evaluations: as they are set, or as many as fit. */
export function evaluationSizes(
  config: Pick<TrainConfig, 'evaluation' | 'steps' | 'clone'>,
  { reading, sampling, learning }: StepSeconds,
  episode: number,
  unpractised: number,
): EstimateEvent['evaluation'] {
  const affordable = EVALUATION_SHARE * config.steps * (reading + sampling + learning);
  const start = config.clone.steps > 0 ? unpractised : 0;
  const eachTask = start + evaluatedEpisodes(config, { tasks: 1, finalTasks: 1 }) * episode;
  const fitting = Math.floor(affordable / eachTask);
  const chosen = Math.min(TASKS.most, Math.max(TASKS.least, fitting));
  const { tasks, finalTasks } = config.evaluation;
  return { tasks: tasks || chosen, finalTasks: finalTasks || chosen };
}
