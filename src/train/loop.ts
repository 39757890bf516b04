/**
 * The method, start to end: imitate demonstrations, then act, compare, and learn from the difference, again and again.
 *
 * Knows nothing of files, terminals or processes: what happens is reported through `io`.
 */

import { TurnwiseError } from '../core/errors.ts';
import type { Trajectory } from '../core/trajectory.ts';
import type { CreditState } from '../credit/rollouts.ts';
import { type TaskPool, updatePool } from '../curation/revisit.ts';
import { constantShare, keepUsable } from '../curation/usable.ts';
import { evaluate } from '../eval/evaluate.ts';
import { collectGroups, failuresOf } from '../rollout/collect.ts';
import { plannedSteps, spentShare } from './budget.ts';
import { clone } from './clone.ts';
import type { EvaluationResult, Metrics, Phase, ProgressEvent, RunSummary, StoredEvent } from './events.ts';
import { type Learner, playOptions } from './learner.ts';
import { rolloutMetrics } from './metrics.ts';
import type { Credited } from './rollout-record.ts';
import { type AverageStrategy, measureSelfPlay, treeOf } from './self-play.ts';
import { chooseTasks, playedTasks, requestsFor } from './tasks.ts';
import { updatePolicy } from './update.ts';

/** What must survive a crash, besides the engine's weights. Plain JSON. */
export interface TrainState {
  /** Steps taken. */
  readonly step: number;
  readonly creditState: CreditState;
  /** Tasks not yet solved. */
  readonly pool: TaskPool;
  /** The average of all strategies so far, in self-play. */
  readonly average: AverageStrategy | null;
  readonly before: Evaluations | null;
  readonly tokens: { readonly sampled: number; readonly trained: number; readonly forward: number };
  readonly episodes: number;
  readonly turns: number;
  /** Spent acting and learning, where minutes are limited; otherwise 0, so that equal runs have equal states. */
  readonly seconds: number;
}

/** What a policy is worth on held-out tasks, at temperature 1 and greedily. */
export interface Evaluations {
  readonly sampled: EvaluationResult;
  readonly greedy: EvaluationResult;
}

/** Demonstrations to imitate; or, where the engine holds weights that did so before, what they were found to be worth. */
export type Beginning = { readonly demonstrations: readonly Trajectory[] } | { readonly before: Evaluations };

export const initialState: TrainState = {
  step: 0,
  creditState: {},
  pool: [],
  average: null,
  before: null,
  tokens: { sampled: 0, trained: 0, forward: 0 },
  episodes: 0,
  turns: 0,
  seconds: 0,
};

/** Where a run tells what happens, and keeps what must last. */
export interface RunIo {
  event(event: StoredEvent): void;
  progress(event: ProgressEvent): void;
  /** Store the episodes of a step with their credit; `label` names evaluations. */
  rollouts(
    label: string,
    trajectories: readonly Trajectory[],
    credited?: ReadonlyMap<string, Credited>,
  ): Promise<void>;
  checkpoint(step: number, state: TrainState): Promise<void>;
  /** Seconds since some start. */
  now(): number;
  /** Aborted: drop everything at once. */
  readonly signal: AbortSignal;
  /** Asked once after every step: stop here, where everything can be kept? */
  stopRequested(): boolean;
}

/** Train from `start` to the end. How it begins is read only at the start of a run. */
export async function train(
  learner: Learner,
  start: TrainState,
  beginning: Beginning,
  io: RunIo,
): Promise<RunSummary> {
  const { config, engine } = learner;
  const began = io.now();
  const seconds = { clone: 0, rollout: 0, train: 0, evaluate: 0, total: 0 };
  const timed = async <T>(phase: keyof typeof seconds, work: () => Promise<T>): Promise<T> => {
    const from = io.now();
    const result = await work();
    seconds[phase] += io.now() - from;
    return result;
  };
  const measure = (label: 'before' | 'during' | 'after', step: number) =>
    timed('evaluate', () => evaluateBoth(learner, label, step, io));
  const tree = treeOf(learner.world);
  let state = start;

  if (state.before === null) {
    if ('demonstrations' in beginning) {
      io.event({ type: 'phase', phase: 'clone', steps: config.clone.steps });
      await timed('clone', () =>
        clone(
          learner,
          beginning.demonstrations,
          (step, metrics) => io.event({ type: 'clone', step: step + 1, steps: config.clone.steps, metrics }),
          io.signal,
        ),
      );
    } else {
      io.event({ type: 'evaluation', step: 0, label: 'before', ...beginning.before });
    }
    if (config.objective.klCoefficient > 0) await engine.freeze();
    const before = 'before' in beginning ? beginning.before : await measure('before', 0);
    state = { ...state, before };
    // Before the checkpoint, so that a resumed run, whose log is cut back to it, has this event once.
    io.event({ type: 'phase', phase: 'train', steps: config.steps });
    await io.checkpoint(0, state);
  }

  while (spentShare(config, state) < 1) {
    const { step } = state;
    const planned = plannedSteps(config, state);
    // 1. Act: every group plays one task several times with the present weights.
    const stepBegan = io.now();
    const tasks = chooseTasks(learner, step, state.pool);
    const groups = await timed('rollout', () =>
      collectGroups(requestsFor(learner, tasks), {
        ...playOptions(learner, io.signal),
        onEpisode: reportEpisodes(io, 'train'),
      }),
    );
    const rolloutSeconds = io.now() - stepBegan;

    // 2. Curate: what failed is counted and warned of, and teaches nothing.
    const usable = keepUsable(groups, config.rollout.minimumMembers);
    for (const [message, count] of failuresOf(groups.flatMap(({ members }) => members))) {
      io.event({
        type: 'warning',
        code: 'episodes-failed',
        message: `step ${step + 1}: ${count} × ${message}`,
      });
    }

    // 3. Credit and learn.
    const trainBegan = io.now();
    const update = await timed('train', () =>
      updatePolicy(learner, usable.groups, { step, planned }, state.creditState),
    );
    if (update.updates === 0)
      io.event(nothingLearned(step + 1, usable.groups.length, constantShare(usable.groups)));
    const gap = update.metrics['policy/kl_sample_train'] ?? 0;
    if (!(gap <= sampleTrainLimit)) io.event(samplerDiffers(step + 1, gap));
    await engine.publish();
    const selfPlay = tree && (await measureSelfPlay(learner, tree, state.average, step + 1));

    // 4. Report, evaluate, keep.
    const trajectories = groups.flatMap(({ members }) => members);
    const counts = rolloutMetrics(trajectories);
    state = {
      ...state,
      step: step + 1,
      creditState: update.creditState,
      pool: updatePool(state.pool, playedTasks(usable.groups, tasks)),
      average: selfPlay?.average ?? null,
      tokens: {
        sampled: state.tokens.sampled + counts['tokens/sampled']!,
        trained: state.tokens.trained + update.trainedTokens,
        forward: state.tokens.forward + counts['tokens/forward']!,
      },
      episodes: state.episodes + trajectories.length,
      turns: state.turns + counts['turns/total']!,
    };
    const trainSeconds = io.now() - trainBegan;
    const stepSeconds = io.now() - stepBegan;
    if (config.budget.minutes > 0) state = { ...state, seconds: state.seconds + stepSeconds };
    const metrics: Metrics = {
      ...counts,
      'groups/constant_share': constantShare(usable.groups),
      'groups/dropped': usable.droppedGroups,
      'episodes/failed': usable.failedEpisodes,
      ...update.metrics,
      ...selfPlay?.metrics,
      'time/rollout_s': rolloutSeconds,
      'time/train_s': trainSeconds,
      'time/step_s': stepSeconds,
      'speed/sample_tokens_per_s': counts['tokens/forward']! / rolloutSeconds,
      'speed/train_tokens_per_s': update.trainedTokens / trainSeconds,
    };
    io.event({ type: 'step', step: step + 1, steps: plannedSteps(config, state), metrics });
    const last = spentShare(config, state) >= 1;
    if (config.rolloutLog > 0 && (step % config.rolloutLog === 0 || last)) {
      await io.rollouts(String(step + 1), trajectories, update.credited);
    }
    if (!last && config.evaluation.every > 0 && (step + 1) % config.evaluation.every === 0) {
      await measure('during', step + 1);
    }
    const stopping = io.stopRequested();
    if (last || stopping || (step + 1) % config.checkpoint.every === 0) await io.checkpoint(step + 1, state);
    if (stopping && !last)
      throw new TurnwiseError('cancelled', { what: `The run was asked to stop after step ${step + 1}` });
  }

  // Without a step nothing has changed since the evaluation before.
  const before = state.before!;
  const after = state.step === 0 ? before : await measure('after', state.step);
  seconds.total = io.now() - began;
  const { step: steps, tokens, episodes, turns } = state;
  const summary: RunSummary = {
    before,
    after,
    steps,
    tokens,
    episodes,
    turns,
    seconds,
  };
  io.event({ type: 'finish', summary });
  return summary;
}

/** Play held-out tasks at temperature 1 and greedily; report and keep the episodes. */
async function evaluateBoth(
  learner: Learner,
  label: 'before' | 'during' | 'after',
  step: number,
  io: RunIo,
): Promise<Evaluations> {
  const { evaluation } = learner.config;
  const play = async (temperature: number, name: string) =>
    evaluate({
      ...playOptions(learner, io.signal),
      split: 'test',
      // The same episodes' chance in every evaluation, so that before and after differ in the policy alone.
      label: `evaluation-${name}`,
      tasks: label === 'during' ? evaluation.tasks : evaluation.finalTasks,
      sampling: { temperature, topP: 1, topK: 0 },
      onEpisode: reportEpisodes(io, 'evaluate'),
    });
  const sampled = await play(1, 'sampled');
  const greedy = await play(0, 'greedy');
  io.event({ type: 'evaluation', step, label, sampled: sampled.result, greedy: greedy.result });
  if (label !== 'during') await io.rollouts(`evaluation-${label}`, sampled.trajectories);
  return { sampled: sampled.result, greedy: greedy.result };
}

function reportEpisodes(io: RunIo, phase: Phase): (done: number, total: number) => void {
  return (done, total) => io.progress({ type: 'progress', phase, done, total, waitingFor: 'episodes' });
}

/**
 * Largest `policy/kl_sample_train` that rounding explains: log-probabilities 1e-4 apart give 5e-9 for a mean over tokens,
 * and a loss that sums over the tokens of a sequence multiplies that by its length.
 */
const sampleTrainLimit = 1e-5;

function samplerDiffers(step: number, gap: number): StoredEvent {
  return {
    type: 'warning',
    code: 'sampler-differs',
    message:
      `step ${step}: sampled tokens have other log-probabilities in training than when they were sampled ` +
      `(policy/kl_sample_train ${gap.toExponential(1)}): the trained tokens are not those that were sampled, or the sampler has other weights`,
  };
}

/** A step that learned nothing says so, and why. */
function nothingLearned(step: number, groups: number, constant: number): StoredEvent {
  const why =
    groups === 0
      ? 'no group had enough usable episodes'
      : `${Math.round(100 * constant)}% of groups had equal returns, so every advantage was zero`;
  return {
    type: 'warning',
    code: 'nothing-learned',
    message: `step ${step}: no update was made, because ${why}`,
  };
}
