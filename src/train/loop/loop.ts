/**
 * The method, start to end: imitate demonstrations, then act, compare, and learn from the difference, again and again.
 *
 * Knows nothing of files, terminals or processes: what happens is reported through `io`.
 */

import type { Group, StepCredit } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { constantShare, countMembers } from '../../curation/usable.ts';
import { failuresOf } from '../../rollout/collect.ts';
import { batches } from '../batches/batches.ts';
import type { Kept } from '../kit/learn.ts';
import { isSynchronous, keepReference, type Learner, learnersOf } from '../kit/learner.ts';
import { learnedRoles } from '../kit/seats.ts';
import { stepCredit, withCredit } from '../kit/stored-credit.ts';
import { brake } from './brake.ts';
import { plannedSteps, spentShare } from './budget.ts';
import { clone, type ToImitate } from './clone.ts';
import { type Evaluations, evaluateBoth, type Played, reportEpisodes } from './evaluations.ts';
import type { Metrics, ProgressEvent, RunSummary, Spend, StoredEvent } from './events.ts';
import { learnPlayers } from './learn-players.ts';
import { initialMemory, type Memory } from './learn-step.ts';
import { rolloutMetrics } from './metrics.ts';
import { stepActor } from './play-step.ts';
import { keptKeys, remembered } from './remember.ts';
import { type AverageStrategy, measureSelfPlay, treeOf } from './self-play.ts';
import { failureWarnings, updateWarnings } from './warnings.ts';

/** What must survive a crash, besides the engine's weights. Plain JSON. */
export interface TrainState {
  /** Steps taken. */
  readonly step: number;
  readonly memory: Memory;
  /** The average of all strategies so far, in self-play. */
  readonly average: AverageStrategy | null;
  readonly before: Evaluations | null;
  readonly tokens: {
    readonly sampled: number;
    readonly trained: number;
    readonly forward: number;
    readonly scored: number;
  };
  readonly episodes: number;
  readonly turns: number;
}

/** Episodes to imitate; or, where the engine holds weights that did so before, what they were found to be worth. */
export type Beginning = ({ readonly imitate: ToImitate } | { readonly before: Evaluations }) & {
  /** Recorded episodes that the recipe learns from. */
  readonly recorded?: readonly Kept[];
};

export const initialState: TrainState = {
  step: 0,
  memory: { credit: {}, recipe: null, tasks: null, turns: null, curation: {} },
  average: null,
  before: null,
  tokens: { sampled: 0, trained: 0, forward: 0, scored: 0 },
  episodes: 0,
  turns: 0,
};

/** Where a run tells what happens, and keeps what must last. */
export interface RunIo {
  event(event: StoredEvent): void;
  progress(event: ProgressEvent): void;
  /** Store the episodes of a step, with their credit, and how it was computed where there is any. */
  rollouts(step: number, groups: readonly Group[], credit?: StepCredit): Promise<void>;
  /** Store the episodes of an evaluation after a step. */
  evaluation(step: number, played: Played): Promise<void>;
  checkpoint(step: number, state: TrainState): Promise<void>;
  /** Seconds since some start. */
  now(): number;
  /** How a person continues this run after removing the cause of its stop: a sentence. */
  readonly goOn: string;
  /** Aborted: drop everything at once. */
  readonly signal: AbortSignal;
  /** Asked once after every step: stop here, where everything can be kept? */
  stopRequested(): boolean;
}

/**
 * Train from `start` to the end. How it begins is read only at the start of a run.
 *
 * @param spentSeconds acting and learning before `start`: no part of the state, so that equal runs have equal states
 */
export async function train(
  learner: Learner,
  start: TrainState,
  beginning: Beginning,
  io: RunIo,
  spentSeconds = 0,
): Promise<RunSummary> {
  const { config } = learner;
  const began = io.now();
  const seconds = { clone: 0, rollout: 0, train: 0, evaluate: 0, total: 0 };
  const timed = async <T>(phase: keyof typeof seconds, work: () => Promise<T>): Promise<T> => {
    const from = io.now();
    const result = await work();
    seconds[phase] += io.now() - from;
    return result;
  };
  const measure = (label: 'before' | 'during' | 'after', step: number) =>
    timed('evaluate', () => evaluateBoth(learner, label, step, spent(), io));
  // The tree knows nothing of names.
  const tree = config.rollout.exchangeEvery > 0 ? undefined : treeOf(learner.world);
  let state = start;
  let learningSeconds = spentSeconds;
  const spent = (): Spend => ({
    episodes: state.episodes,
    turns: state.turns,
    tokens: state.tokens.forward + state.tokens.trained + state.tokens.scored,
    seconds: learningSeconds,
  });

  if (state.before === null) {
    if ('imitate' in beginning) {
      io.event({ type: 'phase', phase: 'clone', steps: config.clone.steps });
      for (const each of learnersOf(learner)) await timed('clone', () => clone(each, beginning.imitate, io));
    } else {
      io.event({ type: 'evaluation', step: 0, label: 'before', ...beginning.before, spent: spent() });
    }
    for (const each of learnersOf(learner)) await keepReference(each);
    await learner.seats?.after(0);
    const before = 'before' in beginning ? beginning.before : await measure('before', 0);
    state = { ...state, before, memory: initialMemory(learner, beginning.recorded) };
    // Before the checkpoint, so that a resumed run, whose log is cut back to it, has this event once.
    io.event({ type: 'phase', phase: 'train', steps: config.steps });
    await io.checkpoint(0, state);
  }

  const budget = () => ({ step: state.step, ...spent() });
  const actor = stepActor(learner, () => state.memory, reportEpisodes(io, 'train'));
  const source = batches({
    ...{ actor, ...config.batches, parts: 1, groups: config.rollout.tasks, step: state.step },
    last: () => plannedSteps(config, budget()),
  });
  let failing = 0;
  while (spentShare(config, budget()) < 1) {
    const { step, memory } = state;
    const planned = plannedSteps(config, budget());
    const scoredBefore = learner.scoredTokens();
    // 1. Act and curate: groups play tasks several times each with published weights; some are learned from.
    const stepBegan = io.now();
    await learner.seats?.before(step + 1);
    const { batch, played, groups, usable, learned } = await timed('rollout', async () => {
      const batch = await source.next(io.signal);
      return { batch, ...(await actor.curate(batch)) };
    });
    const rolloutSeconds = io.now() - stepBegan;

    // 2. Failures are counted and warned of, and teach nothing.
    const roles = learnedRoles(learner, played);
    const failures = failuresOf(played.flatMap(({ members }) => members));
    for (const warning of failureWarnings(step + 1, failures)) io.event(warning);
    const ended = { episodes: countMembers(roles), failed: usable.failedEpisodes, failures };
    failing = brake(failing, ended, { limit: config.rollout.failureLimit, next: io.goOn });

    // 3. Credit and learn.
    const trainBegan = io.now();
    const update = await timed('train', () => learnPlayers(learner, learned, { step, planned }, memory));
    for (const warning of updateWarnings(step + 1, update, usable.groups, batch)) io.event(warning);
    await source.learned(batch);
    await learner.seats?.after(step + 1);
    const selfPlay = tree && (await measureSelfPlay(learner, tree, state.average, step + 1));

    // 4. Remember, report, evaluate, keep.
    const { credited } = update;
    const learnedFrom = credited ? withCredit(groups, credited, step + 1) : groups;
    const next = { ...update.memory, ...remembered(learner, learnedFrom, memory, step + 1) };
    const kept = keptKeys(update.keep, next);
    learner.archive.keepOnly(kept);
    const counts = rolloutMetrics(played, roles);
    state = {
      ...state,
      step: step + 1,
      memory: next,
      average: selfPlay?.average ?? null,
      tokens: {
        sampled: state.tokens.sampled + counts['tokens/sampled']!,
        trained: state.tokens.trained + update.trainedTokens,
        forward: state.tokens.forward + counts['tokens/forward']!,
        scored: state.tokens.scored + learner.scoredTokens() - scoredBefore,
      },
      episodes: state.episodes + counts['episodes/total']!,
      turns: state.turns + counts['turns/total']!,
    };
    const trainSeconds = io.now() - trainBegan;
    const stepSeconds = io.now() - stepBegan;
    learningSeconds += stepSeconds;
    const metrics: Metrics = {
      ...counts,
      'groups/constant_share': constantShare(usable.groups),
      'groups/dropped': usable.droppedGroups,
      'episodes/failed': usable.failedEpisodes,
      ...(!isSynchronous(config) && {
        'policy/staleness': batch.staleness,
        'groups/stale': batch.dropped,
      }),
      ...update.metrics,
      ...selfPlay?.metrics,
      'time/rollout_s': rolloutSeconds,
      'time/train_s': trainSeconds,
      'time/step_s': stepSeconds,
      'speed/sample_tokens_per_s': counts['tokens/forward']! / Math.max(rolloutSeconds, 1e-9),
      'speed/train_tokens_per_s': update.trainedTokens / trainSeconds,
    };
    io.event({
      type: 'step',
      step: step + 1,
      steps: plannedSteps(config, budget()),
      metrics,
      spent: spent(),
    });
    const last = spentShare(config, budget()) >= 1;
    const isLogged = config.rolloutLog > 0 && (step % config.rolloutLog === 0 || last);
    if (groups.length > 0 && (kept.length > 0 || isLogged)) {
      const credit = credited && stepCredit(config, memory.credit, learner.catalogue);
      await io.rollouts(step + 1, learnedFrom, credit);
    }
    if (!last && config.evaluation.every > 0 && (step + 1) % config.evaluation.every === 0) {
      await measure('during', step + 1);
    }
    const stopping = io.stopRequested();
    if (last || stopping || (step + 1) % config.checkpoint.every === 0) await io.checkpoint(step + 1, state);
    if (stopping && !last) {
      source.close();
      throw new TurnwiseError('cancelled', { what: `The run was asked to stop after step ${step + 1}` });
    }
  }

  source.close();
  // Without a step nothing has changed since the evaluation before.
  const before = state.before!;
  const after = state.step === 0 ? before : await measure('after', state.step);
  seconds.total = io.now() - began;
  const { step: steps, tokens, episodes, turns } = state;
  const summary: RunSummary = { before, after, steps, tokens, episodes, turns, seconds };
  io.event({ type: 'finish', summary });
  return summary;
}
