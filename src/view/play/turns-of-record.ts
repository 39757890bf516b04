/**
 * The turns of a recorded episode: its limit, who plays them, and what comes after each turn that is played on from it, as in its
 * step. A turn control that remembers is told what it remembered then.
 */

import type { ByRole, Group } from '../../core/episode.ts';
import type { Json } from '../../core/json/json.ts';
import { tasksRegistry } from '../../curation/registry.ts';
import type { CollectOptions } from '../../rollout/collect.ts';
import {
  demonstratedRules,
  type TurnRules,
  type Turns,
  turnRules,
} from '../../rollout/turns/turn-control.ts';
import type { OpenedCheckpoint } from '../../run/open-checkpoint.ts';
import type { CheckpointState } from '../../run/run-checkpoint.ts';
import { readRunFile } from '../../run/settings/run-recipe.ts';
import { version } from '../../run/version.ts';
import { trainingShard } from '../../store/rollouts/shard-names.ts';
import { RunDirectory } from '../../store/run-directory.ts';
import { isSynchronous } from '../../train/config/batch-settings.ts';
import { openTurns } from '../../train/config/catalogue.ts';
import { configAt } from '../../train/config/stages.ts';
import { contextOf, playOptions } from '../../train/kit/learner.ts';
import { turnMemoryAfter } from '../../train/loop/remember.ts';
import type { WatchedRun } from '../server/watched-run.ts';
import { isEvaluated, type Recorded, unrecorded } from './recorded.ts';
import { seatsOf } from './seats-of-record.ts';

/** How an episode is played on, and the turns that each of its roles has. */
export interface PlayedOn {
  readonly options: CollectOptions;
  readonly limit: number;
  /** Who sat in it, by role, where that may be somebody else than the settings seat. */
  readonly seats: ByRole<string>;
}

interface Asked {
  readonly past: Recorded;
  readonly run: WatchedRun;
  readonly root: string;
  /** Opened with the turn control of the training. */
  readonly learner: OpenedCheckpoint;
  readonly signal: AbortSignal;
}

/** A source of tasks that may limit the turns of its groups. */
const isLimiting = (tasks: string): boolean => tasks === 'dart' || tasksRegistry.get(tasks) === undefined;

/** How a record is played to its end: it says itself what comes after each turn. */
export function playedAgain({ past, learner, signal }: Pick<Asked, 'past' | 'learner' | 'signal'>): PlayedOn {
  const options = optionsOf(past, learner, signal);
  const limit = past.episode.limit ?? Math.max(options.maxTurns, actsOf(past) + 1);
  // Nobody in a seat is asked.
  return { options, limit, seats: {} };
}

/** How it is played on, with everybody in the seat that they had. @throws TurnwiseError `play-unrecorded`, those of the turn control */
export async function playedOn(asked: Asked): Promise<PlayedOn> {
  const { past, root, run, learner, signal } = asked;
  const { key, label, episode } = past;
  const seats = await seatsOf(past, learner);
  const options = optionsOf(past, learner, signal);
  const { config } = learner;
  const { maxTurns: usual, seatedAs, policy } = options;
  const known = episode.limit ?? (episode.stop === 'turn-limit' ? actsOf(past) : undefined);
  let rules: TurnRules | undefined;
  if (label === 'training') {
    const { tasks } = readRunFile(RunDirectory.openForReading({ root, name: run.name, version })).config;
    if (known === undefined && isLimiting(tasks.name))
      throw unrecorded(past, `the turn limit that the source of tasks "${tasks.name}" may have given it`);
    const turns = turnsAt(key.step, learner);
    const memory =
      turns.remembers && (turns.after || known === undefined)
        ? await memoryBefore(asked, turns)
        : turns.start();
    rules = turnRules(turns, { step: key.step, memory, seed: config.seed, usual });
  } else if (isEvaluated(label) && config.evaluation.turnControl) {
    rules = demonstratedRules(learner.turns, { seed: config.seed, usual });
  }
  return {
    options: { ...options, policy: seatedAs?.(seats) ?? policy, ...(rules && { turns: rules }) },
    limit: known ?? rules?.limit(key, episode.task) ?? usual,
    seats,
  };
}

/** As in the stage of its step. */
function optionsOf({ key, label }: Recorded, learner: OpenedCheckpoint, signal: AbortSignal): CollectOptions {
  if (label !== 'training') return playOptions(learner, signal);
  const config = configAt(learner.config, key.step, learner.stageEnds);
  return playOptions({ ...learner, config, context: contextOf(config, learner.catalogue) }, signal, key.step);
}

function turnsAt(step: number, { config, catalogue, stageEnds }: OpenedCheckpoint): Turns {
  return openTurns(configAt(config, step, stageEnds).turns, catalogue);
}

/** Acts of the role that acted most. */
function actsOf({ chain: { calls } }: Recorded): number {
  const acts = new Map<string, number>();
  for (const { role, purpose } of calls) if (purpose === 'act') acts.set(role, (acts.get(role) ?? 0) + 1);
  return Math.max(0, ...acts.values());
}

/** What the turn control remembered before the step of the episode: of a checkpoint, and of the steps that are stored since. */
async function memoryBefore({ past, root, run, learner }: Asked, turns: Turns): Promise<Json> {
  const { step } = past.key;
  const { config } = learner;
  const what = `what the turn control "${config.turns.name}" remembered when it was asked for`;
  // Steps that are played ahead are asked for with what was remembered by then.
  if (!isSynchronous(config)) throw unrecorded(past, what);
  const { checkpoints } = RunDirectory.openForReading({ root, name: run.name, version });
  const kept = checkpoints.steps().findLast((own) => own > 0 && own < step);
  let memory = turns.start();
  if (kept !== undefined) {
    const { state } = await checkpoints.open({ step: kept });
    memory = (state as unknown as CheckpointState).state.memory.turns;
  }
  const reader = run.rollouts();
  for (let earlier = (kept ?? 0) + 1; earlier < step; earlier++) {
    const groups: Group[] = [];
    for await (const group of reader.groups(trainingShard(earlier))) groups.push(group);
    if (groups.length === 0) throw unrecorded(past, `${what}: no episodes of step ${earlier} are stored`);
    const own = { config, turns: turnsAt(earlier, learner) };
    memory = turnMemoryAfter(own, groups, memory, earlier);
  }
  return memory;
}
