/** Training as functions: for worlds that a program made, and programs that want the events. */

import type { JsonCompatible } from '../core/json/json-compatible.ts';
import type { Definition } from '../run/load/definitions.ts';
import { resolveWorld } from '../run/load/resolve-world.ts';
import type { WorldInput } from '../run/load/world-object.ts';
import type { Run } from '../run/run.ts';
import type { RecipeInput } from '../run/settings/run-recipe.ts';
import { defaultRecipe } from '../run/settings/run-settings.ts';
import type { Sink } from '../run/sinks/sink.ts';
import { beginRun, continueRun } from '../run/start.ts';
import type { RunSettings } from '../train/config/setting-objects.ts';
import type { RunSummary } from '../train/loop/events.ts';
import type { Probe } from '../train/loop/probe.ts';

export interface StartOptions<Task extends JsonCompatible<Task>, State extends JsonCompatible<State>>
  extends RunOptions {
  /**
   * An environment, game, agent or world; or what the command line takes: a built-in name, a path with an optional `#export`,
   * or an address, with which the command line can go on with the run too.
   */
  readonly world: WorldInput<Task, State>;
  /**
   * A name, a file such as `./mine.ts`, a recipe, or a recipe with settings: `grpo({ objective: { clipHigh: 0.3 } })`. Default:
   * `rloo`, and `self-play` where there are several roles.
   */
  readonly recipe?: RecipeInput;
  /**
   * Any part of the configuration; the rest comes from the recipe. Where a setting names a method, it takes a file or a
   * definition as well: `{ credit: { method: defineCreditMethod(…) } }`.
   */
  readonly settings?: RunSettings;
  /** Default: world, recipe and a number. */
  readonly name?: string;
}

export interface ResumeOptions<Task extends JsonCompatible<Task>, State extends JsonCompatible<State>>
  extends RunOptions {
  /** Needed where the run was made with an object; otherwise it is loaded again as it was. */
  readonly world?: WorldInput<Task, State>;
  /** Needed where the run was made with definitions as objects: all of them, in any order. */
  readonly definitions?: readonly Definition[];
}

export interface RunOptions {
  /** Folder of all runs. Default: `runs`. */
  readonly runs?: string;
  /** Get every stored event. */
  readonly sinks?: readonly Sink[];
  /** Watch the learner after every so many steps: their figures join the events of steps. */
  readonly probes?: readonly Probe[];
  /** Aborted: drop everything at once; what happened since the last checkpoint is lost. */
  readonly signal?: AbortSignal;
}

/**
 * Begin a run, as `turnwise train` does, and return when it is open: when its first event is stored. Demonstrations have been
 * played by then, and the model is ready.
 *
 * @example
 * const run = await start({ world: './treasure.ts', recipe: 'grpo', settings: { steps: 20 } });
 * for await (const event of run.events) if (event.type === 'step') console.log(event.step);
 * const { sampled } = await run.evaluate({ tasks: 500 });
 *
 * @throws TurnwiseError for settings, names and worlds that cannot be used (docs/errors.md)
 */
export async function start<Task extends JsonCompatible<Task>, State extends JsonCompatible<State>>(
  options: StartOptions<Task, State>,
): Promise<Run> {
  const factory = await resolveWorld(options.world);
  const { recipe = defaultRecipe(factory), settings = {}, name } = options;
  return beginRun({
    ...controlOf(options),
    factory,
    recipe,
    settings,
    ...(name !== undefined && { name }),
  });
}

/**
 * Train from the beginning to the end, and return the summary: `start`, then `finished`.
 *
 * @example
 * const summary = await train({ world: environment, settings: { steps: 20 } });
 * console.log(summary.after.sampled.success);
 *
 * @throws TurnwiseError as `start`; `cancelled` where a signal ended it
 */
export async function train<Task extends JsonCompatible<Task>, State extends JsonCompatible<State>>(
  options: StartOptions<Task, State>,
): Promise<RunSummary> {
  const run = await start(options);
  return run.finished;
}

/**
 * Continue a run from its last checkpoint, as `turnwise resume` does; on the same machine the later steps are the same, bit
 * for bit.
 *
 * @example
 * const run = await resume('treasure-rloo-1', { world: treasure });
 * console.log((await run.finished).after.sampled.success);
 *
 * @throws TurnwiseError `run-unknown`, `run-finished`, `world-in-code`, `definition-in-code`, `definition-lost`,
 * `run-other-environment`
 */
export async function resume<Task extends JsonCompatible<Task>, State extends JsonCompatible<State>>(
  name: string,
  options: ResumeOptions<Task, State> = {},
): Promise<Run> {
  const world = options.world === undefined ? undefined : await resolveWorld(options.world);
  const { definitions } = options;
  return continueRun({
    ...controlOf(options),
    name,
    ...(world && { world }),
    ...(definitions && { definitions }),
  });
}

function controlOf({ runs = 'runs', sinks, probes, signal }: RunOptions) {
  return {
    root: runs,
    ...(sinks && { sinks }),
    ...(probes && { probes }),
    ...(signal && { signal }),
  };
}
