/** Training as a function: for environments that are not built in, and programs that want the events. */

import { z } from 'zod';
import type { Json } from '../core/json.ts';
import type { JsonCompatible } from '../core/json-compatible.ts';
import type { Environment } from '../env/environment.ts';
import type { WorldFactory } from '../env/factory.ts';
import { fromEnvironment } from '../env/from-environment.ts';
import type { World } from '../env/world.ts';
import { resumeRun, startRun } from '../run/training-run.ts';
import type { TrainSettings } from '../train/config.ts';
import type { RunEvent, RunSummary } from '../train/events.ts';

export interface TrainOptions<Task extends JsonCompatible<Task>, State extends JsonCompatible<State>> {
  /** A pure environment, or a world made by `fromGame` or by hand. */
  readonly environment: Environment<Task, State> | World;
  /** Default: `rloo`, and `self-play` where there are several roles. */
  readonly recipe?: string;
  /** Any part of the configuration; the rest comes from the recipe. */
  readonly settings?: TrainSettings;
  /** Default: environment, recipe and a number. */
  readonly name?: string;
  /** Folder of all runs. Default: `runs`. */
  readonly runs?: string;
  readonly onEvent?: (event: RunEvent) => void;
  /** Aborted: drop everything at once; what happened since the last checkpoint is lost. */
  readonly signal?: AbortSignal;
  /** Aborted: stop after the step under way, with a checkpoint, by an error of code `cancelled`. `resume` goes on. */
  readonly softStop?: AbortSignal;
}

export interface ResumeOptions<Task extends JsonCompatible<Task>, State extends JsonCompatible<State>>
  extends Pick<TrainOptions<Task, State>, 'environment' | 'runs' | 'onEvent' | 'signal' | 'softStop'> {
  readonly name: string;
}

/**
 * Train from the beginning, as `turnwise train` does, and return the summary.
 *
 * @example
 * const summary = await train({ environment, settings: { steps: 20 } });
 * console.log(summary.after.sampled.success);
 *
 * @throws TurnwiseError for settings, names and environments that cannot be used (docs/errors.md)
 */
export function train<Task extends JsonCompatible<Task>, State extends JsonCompatible<State>>(
  options: TrainOptions<Task, State>,
): Promise<RunSummary> {
  const world = worldOf(options.environment);
  return startRun({
    factory: factoryOf(world),
    recipe: options.recipe ?? (world.roles.length > 1 ? 'self-play' : 'rloo'),
    settings: options.settings ?? {},
    ...(options.name === undefined ? {} : { name: options.name }),
    ...controlOf(options),
  });
}

/** Continue a run of `train` from its last checkpoint; on the same machine the later steps are the same, bit for bit. */
export function resume<Task extends JsonCompatible<Task>, State extends JsonCompatible<State>>(
  options: ResumeOptions<Task, State>,
): Promise<RunSummary> {
  const factory = factoryOf(worldOf(options.environment));
  return resumeRun({ name: options.name, findFactory: async () => factory, ...controlOf(options) });
}

function worldOf<Task extends JsonCompatible<Task>, State extends JsonCompatible<State>>(
  environment: Environment<Task, State> | World,
): World {
  return 'open' in environment ? environment : fromEnvironment(environment);
}

function factoryOf(world: World): WorldFactory {
  return {
    name: world.name,
    description: world.description,
    options: z.strictObject({}),
    create: () => world,
  };
}

function controlOf(options: Pick<TrainOptions<Json, Json>, 'runs' | 'onEvent' | 'signal' | 'softStop'>) {
  const never = new AbortController().signal;
  return {
    root: options.runs ?? 'runs',
    report: (event: RunEvent) => options.onEvent?.(event),
    signal: options.signal ?? never,
    stopRequested: () => options.softStop?.aborted ?? false,
  };
}
