/**
 * The method, start to end: imitate demonstrations, then act, compare, and learn from the difference, again and again.
 *
 * Knows nothing of files, terminals or processes: what happens is reported through `io`.
 */

import type { Group, StepCredit } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { throwIfCancelled } from '../../core/signals/cancelled.ts';
import { constantShare, countMembers } from '../../curation/usable.ts';
import { failuresOf } from '../../rollout/collect.ts';
import { batches } from '../batches/batches.ts';
import { isSynchronous } from '../config/batch-settings.ts';
import type { Kept } from '../kit/learn.ts';
import { beginCritic, keepReference, type Learner, learnersOf } from '../kit/learner.ts';
import { learnedRoles } from '../kit/seats.ts';
import { staged } from '../kit/staged.ts';
import { stepCredit, withCredit } from '../kit/stored-credit.ts';
import { brake } from './brake.ts';
import { plannedSteps, spentShare } from './budget.ts';
import { clone, type ToImitate } from './clone.ts';
import { diagnosisWarning, legalActs } from './diagnosis.ts';
import { evaluateHeldOut, evaluationProbe, type Played, reportEpisodes } from './evaluations.ts';
import type { Evaluations, Metrics, ProgressEvent, RunSummary, Spend, StoredEvent } from './events.ts';
import { joinParts, type LearnedPart } from './learn-parts.ts';
import { creditStates, learnPlayers } from './learn-players.ts';
import { initialMemory, type Memory } from './learn-step.ts';
import { rolloutMetrics } from './metrics.ts';
import { stepActor } from './play-step.ts';
import { lookAll, probed } from './probes.ts';
import { keptKeys, remembered, taskMetrics } from './remember.ts';
import { selfPlayProbe } from './self-play.ts';
import { stageBegun } from './stage-begun.ts';
import { measuredIn, stageProgress, unmeasuredStage } from './stage-progress.ts';
import type { TrainState } from './state.ts';
import { tellPrompts } from './tell-prompts.ts';
import { failureWarnings, idleWatch, updateWarnings } from './warnings.ts';

/** Episodes to imitate; or, where the engine holds weights that did so before, what they were found to be worth. */
export type Beginning = ({ readonly imitate: ToImitate } | { readonly before: Evaluations }) & {
  /** Recorded episodes that the recipe learns from. */
  readonly recorded?: readonly Kept[];
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
  const measure = (label: 'before' | 'after', step: number) =>
    timed('evaluate', async () => {
      const { result, event } = await evaluateHeldOut(learner, label, step, spent(), io);
      io.event(event);
      return result;
    });
  let state = start;
  const keep = async (): Promise<void> => {
    throwIfCancelled(io.signal);
    await io.checkpoint(state.step, state);
  };
  let learningSeconds = spentSeconds;
  const spent = (): Spend => ({
    episodes: state.episodes,
    turns: state.turns,
    tokens: state.tokens.forward + state.tokens.trained + state.tokens.scored,
    seconds: learningSeconds,
  });

  const { instruction, prompts } = learner;
  instruction.text = state.before === null ? prompts.best(prompts.start()) : state.instruction;

  if (state.before === null) {
    if ('imitate' in beginning) {
      io.event({ type: 'phase', phase: 'clone', steps: config.clone.steps });
      for (const each of learnersOf(learner)) await timed('clone', () => clone(each, beginning.imitate, io));
    } else {
      io.event({ type: 'evaluation', step: 0, label: 'before', ...beginning.before, spent: spent() });
    }
    for (const each of learnersOf(learner)) {
      await beginCritic(each);
      await keepReference(each);
    }
    await learner.seats?.after(0);
    const before = 'before' in beginning ? beginning.before : await measure('before', 0);
    const memory = initialMemory(learner, beginning.recorded);
    state = { ...state, before, memory, instruction: instruction.text };
    // Before the checkpoint, so that a run that goes on from it has this event once.
    io.event({
      ...{ type: 'phase', phase: 'train', steps: config.steps },
      ...(config.prompts.alone && { still: true }),
    });
    await keep();
  }

  const budget = () => ({ step: state.step, ...spent() });
  const at = staged(learner, () => state.stages?.ends);
  const actor = stepActor(learner, () => state.memory, reportEpisodes(io, 'train'), at);
  const source = batches({
    ...{
      actor,
      ...config.batches,
      groups: (step: number) => at(step).config.rollout.tasks,
      step: state.step,
      ahead: state.ahead,
    },
    last: () => plannedSteps(config, budget()),
  });
  const probes = [...(learner.probes ?? []), ...selfPlayProbe(learner), evaluationProbe(learner, io)];
  const watched = probed(learner, io.signal, () => state.step);
  const logged = new Set<string>();
  let failing = 0;
  const idle = idleWatch(learner.recipe.idle);
  try {
    while (spentShare(config, budget()) < 1) {
      const { step, memory } = state;
      const own = at(step + 1);
      for (const event of stageBegun(config, step + 1, state.stages?.ends)) io.event(event);
      const planned = plannedSteps(config, budget());
      const scoredBefore = learner.scoredTokens();
      const stepBegan = io.now();
      const playedBefore = seconds.rollout;
      await learner.seats?.before(step + 1);
      // 1. In one part or several: act and curate, then credit and learn. After the last part the new weights act.
      const parts: LearnedPart[] = [];
      let learned: Pick<Memory, 'credit' | 'recipe' | 'players'> = memory;
      do {
        const { batch, curated } = await timed('rollout', async () => {
          const batch = await source.next(io.signal);
          return { batch, curated: await actor.curate(batch) };
        });
        const moment = { step, part: batch.part, planned };
        const update = await timed('train', () =>
          learnPlayers(own, curated.learned, moment, learned, io.signal),
        );
        learned = { ...learned, ...update.memory };
        parts.push({ batch, curated, update });
        await timed('train', () => source.learned(batch));
      } while (!parts.at(-1)!.batch.last);
      throwIfCancelled(io.signal);
      await learner.seats?.after(step + 1);
      const { played, groups, usable, update, staleness, dropped } = joinParts(parts);

      // 2. Failures are counted and warned of, and have taught nothing.
      const roles = learnedRoles(learner, played);
      const failures = failuresOf(played.flatMap(({ members }) => members));
      for (const warning of failureWarnings(step + 1, failures)) io.event(warning);
      const ended = { episodes: countMembers(roles), failed: usable.failedEpisodes, failures };
      failing = brake(failing, ended, { limit: config.rollout.failureLimit, next: io.goOn });
      if (!own.config.prompts.alone)
        for (const warning of updateWarnings(step + 1, update, usable.groups, staleness)) io.event(warning);

      // 3. Remember, watch, report, keep.
      const { credited } = update;
      const learnedFrom = credited ? withCredit(groups, credited, step + 1) : groups;
      const told = await timed('train', () =>
        tellPrompts(own, learnedFrom, memory.prompts, step + 1, io.signal, logged),
      );
      for (const event of told.events) io.event(event);
      instruction.text = prompts.best(told.memory);
      const next = {
        ...update.memory,
        ...remembered(own, learnedFrom, memory, step + 1),
        prompts: told.memory,
      };
      const kept = keptKeys(update.keep, next);
      learner.archive.keepOnly(kept);
      const counts = rolloutMetrics(played, roles);
      const { underWay, ahead } = source;
      state = {
        ...state,
        step: step + 1,
        memory: next,
        underWay,
        ...(ahead && { ahead }),
        instruction: instruction.text,
        tokens: {
          sampled: state.tokens.sampled + counts['tokens/sampled']!,
          trained: state.tokens.trained + update.trainedTokens,
          forward: state.tokens.forward + counts['tokens/forward']!,
          scored: state.tokens.scored + learner.scoredTokens() - scoredBefore,
        },
        episodes: state.episodes + counts['episodes/total']!,
        turns: state.turns + counts['turns/total']!,
      };
      const rolloutSeconds = seconds.rollout - playedBefore;
      const stepSeconds = io.now() - stepBegan;
      const trainSeconds = stepSeconds - rolloutSeconds;
      learningSeconds += stepSeconds;
      const last = spentShare(config, budget()) >= 1;
      const now = { step: step + 1, last, groups: learnedFrom, spent: spent(), signal: io.signal };
      const seen = await timed('evaluate', () => lookAll(probes, watched, now, state.probes));
      state = { ...state, probes: seen.states };
      const constant = constantShare(usable.groups);
      const metrics: Metrics = {
        ...counts,
        ...(constant !== undefined && { 'groups/constant_share': constant }),
        'groups/dropped': usable.droppedGroups,
        'episodes/failed': usable.failedEpisodes,
        ...(!isSynchronous(config) && {
          'policy/staleness': staleness,
          'groups/stale': dropped,
          'episodes/under_way': state.underWay,
        }),
        ...update.metrics,
        ...taskMetrics(own, next.tasks, step + 1),
        ...told.metrics,
        ...seen.metrics,
        'time/rollout_s': rolloutSeconds,
        'time/train_s': trainSeconds,
        'time/step_s': stepSeconds,
        'speed/sample_tokens_per_s': counts['tokens/forward']! / Math.max(rolloutSeconds, 1e-9),
        'speed/train_tokens_per_s': update.trainedTokens / trainSeconds,
      };
      const legal = legalActs(learner, io.signal);
      const hardly = await diagnosisWarning(step + 1, roles, metrics, credited, own.config, legal);
      for (const warning of hardly) io.event(warning);
      for (const warning of idle(step + 1, metrics, last)) io.event(warning);
      for (const warning of unmeasuredStage(config, state.stages?.ends, step + 1, metrics)) io.event(warning);
      io.event({
        type: 'step',
        step: step + 1,
        steps: plannedSteps(config, budget()),
        metrics,
        spent: spent(),
      });
      for (const event of seen.events) io.event(event);
      const stages = stageProgress(config, state.stages, step + 1, measuredIn(metrics, seen.events));
      state = { ...state, ...(stages && { stages }) };
      const isLogged = config.rolloutLog > 0 && (step % config.rolloutLog === 0 || last);
      if (groups.length > 0 && (kept.length > 0 || isLogged)) {
        const credit = credited && stepCredit(own.config, creditStates(learner, memory), learner.catalogue);
        await io.rollouts(step + 1, learnedFrom, credit);
      }
      const stopping = io.stopRequested();
      if (last || stopping || (step + 1) % config.checkpoint.every === 0) await keep();
      if (stopping && !last)
        throw new TurnwiseError('cancelled', { what: `The run was asked to stop after step ${step + 1}` });
    }
  } finally {
    await source.close();
  }
  // Without a step nothing has changed since the evaluation before.
  const before = state.before!;
  const after = state.step === 0 ? before : await measure('after', state.step);
  seconds.total = io.now() - began;
  const { step: steps, tokens, episodes, turns } = state;
  const summary: RunSummary = { before, after, steps, tokens, episodes, turns, seconds };
  io.event({ type: 'finish', summary });
  return summary;
}
