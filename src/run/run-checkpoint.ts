/** Checkpoints of runs as their learners need them, and the warm start that other runs may begin with. */

import { TurnwiseError } from '../core/errors.ts';
import { differences } from '../core/json/differences.ts';
import type { Checkpoint } from '../store/checkpoints.ts';
import { RunDirectory } from '../store/run-directory.ts';
import type { RunWorld } from '../store/run-file.ts';
import { commandIn } from '../store/runs.ts';
import type { TrainConfig } from '../train/config/config.ts';
import { headsOf } from '../train/design/design-model.ts';
import type { Evaluations } from '../train/loop/events.ts';
import type { TrainState } from '../train/loop/state.ts';
import { isLocal, type ModelCard } from '../train/model-card.ts';
import type { Recipe } from '../train/recipes/recipe.ts';
import { isSameWorld, typedSource } from './load/world-source.ts';
import { readRunFile } from './settings/run-recipe.ts';
import { version } from './version.ts';

/** What a checkpoint remembers besides weights. */
export interface CheckpointState {
  readonly state: TrainState;
  readonly card: ModelCard;
}

/** A checkpoint of this run, by default the last. One of another model or vocabulary, copied in by hand, is refused. */
export function ownCheckpoint(run: RunDirectory, step?: number): Promise<Checkpoint> {
  const start = run.events.read().find((event) => event.type === 'start');
  return run.checkpoints.open({
    ...(step !== undefined && { step }),
    ...(start !== undefined && { identity: start.identity }),
  });
}

/** What another run learned: the model, its weights, and of its warm start what they are worth. */
export interface WarmStart {
  readonly card: ModelCard;
  readonly folder: string;
  readonly before?: Evaluations;
}

/** `start` as the name of a run, and the step of a checkpoint; its warm start, before the first step, unless it says another. */
export function startOf(start: string): { readonly name: string; readonly step: number | 'last' } {
  const [, name, step] = /^(.+)@(\d+|last)$/.exec(start) ?? [];
  if (name === undefined) return { name: start, step: 0 };
  return { name, step: step === 'last' ? step : Number(step) };
}

/** Earlier selves that only a source of tasks seats, such as a league's, are nobody before the first step. */
const isPast = (kind: unknown): boolean => String(kind).startsWith('past:');
const isSeated = (name: string, seats: TrainConfig['seats']): boolean => Object.values(seats).includes(name);

/** What another run of the folder learned by imitation, or later. @throws TurnwiseError `start-mismatch`, `start-missing` */
export async function openWarmStart(root: string, world: RunWorld, config: TrainConfig): Promise<WarmStart> {
  const { name, step: wanted } = startOf(config.start);
  const run = RunDirectory.openForReading({ root, name, version });
  const file = readRunFile(run);
  // One world may be loaded in two ways: from code and from a file.
  const known = isSameWorld(file.world, world) ? file.world : world;
  const facts = (
    environment: RunWorld,
    {
      environment: options,
      engine,
      tinker,
      model,
      lora,
      chat,
      // Scripts write what a context asks for, and are imitated whether it will be trained or not.
      context: { trained: _, ...context },
      players,
      seats,
      rollout,
    }: TrainConfig,
  ): object => ({
    environment: { ...environment, options },
    engine,
    tinker,
    model,
    lora,
    chat,
    context,
    players: Object.fromEntries(
      Object.entries(players).filter(([name, kind]) => isSeated(name, seats) || !isPast(kind)),
    ),
    seats,
    maxTurns: rollout.maxTurns,
    exchangeEvery: rollout.exchangeEvery,
  });
  const [other] = differences(facts(file.world, file.config), facts(known, config));
  if (other) {
    throw new TurnwiseError('start-mismatch', {
      what: `The warm start of run "${config.start}" is one of other settings: ${other.key}`,
      seen: JSON.stringify(other.values[1]),
      allowed: JSON.stringify(other.values[0]),
      next: 'Use the settings of that run, or leave out "start"',
      fields: { run: name, key: other.key },
    });
  }
  const steps = run.checkpoints.steps();
  const step = wanted === 'last' ? (steps.at(-1) ?? 0) : wanted;
  if (!steps.includes(step)) {
    if (step > 0) throw noCheckpoint(config.start, name, steps);
    const typed = typedSource(world.source);
    throw new TurnwiseError('start-missing', {
      what: `Run "${name}" has no warm start to begin with`,
      seen: `checkpoints of steps ${steps.join(', ') || 'none'}`,
      next:
        typed === undefined
          ? `Make a run that keeps it: train({ world, name, settings: { steps: 0 } })`
          : `Make a run that keeps it with: ${commandIn(root, `train ${typed} --name NAME --set steps=0`)}`,
      fields: { run: name },
    });
  }
  const checkpoint = await ownCheckpoint(run, step);
  const { state, card } = checkpoint.state as unknown as CheckpointState;
  return { card, folder: checkpoint.folder, ...(step === 0 && { before: state.before! }) };
}

function noCheckpoint(start: string, run: string, steps: readonly number[]): TurnwiseError {
  return new TurnwiseError('start-missing', {
    what: `There is no checkpoint "${start}" to begin with`,
    seen: `checkpoints of steps ${steps.join(', ') || 'none'}`,
    allowed: `${run}@last, or one of these steps`,
    fields: { run },
  });
}

/** The same model with the heads that a recipe wants, which begin as new ones, and no others. */
export function withHeadsOf(card: ModelCard, recipe: Recipe, config: TrainConfig): ModelCard {
  if (!isLocal(card.shape)) return card;
  const { valueHead: _, extraHeads: __, guidance: ___, ...shape } = card.shape;
  return { ...card, shape: { ...shape, ...headsOf(recipe, config) } };
}
