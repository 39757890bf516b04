/** The composition root of training: environment, recipe, engine and run directory become one run. */

import { createHash } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { TurnwiseError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { createEmbeddedEngine } from '../engine/embedded/embedded-engine.ts';
import type { Engine } from '../engine/engine.ts';
import type { WorldFactory } from '../env/factory.ts';
import type { World } from '../env/world.ts';
import { type DecoderShape, parameterShapes } from '../model/decoder.ts';
import { startWatchdog, unwatched, type Watchdog } from '../rollout/watchdog.ts';
import type { Checkpoint } from '../store/checkpoints.ts';
import { RunDirectory } from '../store/run-directory.ts';
import { demonstrate } from '../synth/demonstrations.ts';
import { type TrainConfig, type TrainSettings, trainConfigSchema } from '../train/config.ts';
import type { RunEvent, RunSummary, StoredEvent } from '../train/events.ts';
import { createLearner, designModel, type ModelCard } from '../train/learner.ts';
import { initialState, type RunIo, type TrainState, train } from '../train/loop.ts';
import type { Recipe } from '../train/recipes/recipe.ts';
import { findRecipe } from '../train/recipes/recipes.ts';
import { resolveConfig } from '../train/resolve.ts';
import { rolloutRecord } from '../train/rollout-record.ts';
import { version } from './version.ts';

export interface RunControl {
  /** The folder that holds all runs. */
  readonly root: string;
  /** Everything that happens, as it happens. */
  readonly report: (event: RunEvent, run: RunDirectory) => void;
  /** Aborted: drop everything at once. */
  readonly signal: AbortSignal;
  /** Asked after every step: stop where everything is kept? */
  readonly stopRequested: () => boolean;
}

export interface StartRequest extends RunControl {
  readonly factory: WorldFactory;
  readonly recipe: string;
  readonly settings: TrainSettings;
  readonly name?: string;
}

/** What a checkpoint remembers besides weights. */
interface CheckpointState {
  readonly state: TrainState;
  readonly card: ModelCard;
}

/** Train from the beginning. */
export async function startRun(request: StartRequest): Promise<RunSummary> {
  const { factory, root } = request;
  const recipe = findRecipe(request.recipe);
  const config = resolveConfig({
    recipe,
    environmentOptions: factory.options,
    ...(factory.settings ? { environmentSettings: factory.settings } : {}),
    settings: request.settings,
  });
  const world = factory.create(config.environment);
  requireScripts(world);
  const run = RunDirectory.create({
    root,
    version,
    environment: factory.name,
    recipe: recipe.name,
    config,
    ...(request.name === undefined ? {} : { name: request.name }),
  });
  try {
    return await begin(request, run, world, recipe, config);
  } finally {
    run.close();
  }
}

/** A model from nothing learns its words from demonstrations, so an environment without players cannot teach one. */
function requireScripts(world: World): void {
  if (world.script !== undefined) return;
  throw new TurnwiseError('no-script', {
    what: `${world.name} has no scripted player, so there is nothing that a new model could learn its words from`,
    next: 'Train a model that can read already, or give the environment solve() (and actions())',
    fields: { environment: world.name },
  });
}

/** Continue a run from its last checkpoint, or from its beginning where it has none yet. */
export async function resumeRun(
  request: RunControl & {
    readonly name: string;
    readonly findFactory: (name: string) => Promise<WorldFactory>;
  },
): Promise<RunSummary> {
  const run = RunDirectory.openForWriting({ root: request.root, name: request.name, version });
  try {
    const file = run.readConfig(trainConfigSchema);
    const recipe = findRecipe(file.recipe);
    const factory = await request.findFactory(file.environment);
    const world = factory.create(factory.options.parse(file.config.environment));
    const checkpoint = run.checkpoints.steps().length > 0 ? await ownCheckpoint(run) : undefined;
    if (!checkpoint) {
      run.events.truncate(0);
      return await begin(request, run, world, recipe, file.config);
    }
    const { state, card } = checkpoint.state as unknown as CheckpointState;
    if (state.step >= file.config.steps && run.events.read().at(-1)?.type === 'finish') {
      throw new TurnwiseError('run-finished', {
        what: `The run "${run.name}" has finished`,
        seen: `${state.step} of ${file.config.steps} steps`,
        next: `See it with "turnwise runs show ${run.name}"`,
      });
    }
    run.rewind(checkpoint);
    const engine = await openEngine(card.shape, file.config);
    const { watch, close } = watchdog(run, file.config);
    try {
      await engine.load(checkpoint.folder);
      const learner = createLearner({ config: file.config, recipe, world, card, engine, watch });
      const io = runIo(request, run, engine, card, file.config);
      io.event({ type: 'resume', step: state.step });
      return await train(learner, state, [], io);
    } finally {
      await Promise.all([engine.close(), close()]);
    }
  } finally {
    run.close();
  }
}

async function begin(
  control: RunControl,
  run: RunDirectory,
  world: World,
  recipe: Recipe,
  config: TrainConfig,
): Promise<RunSummary> {
  const { watch, close } = watchdog(run, config);
  let engine: Engine | undefined;
  try {
    control.report({ type: 'phase', phase: 'demonstrate', steps: config.clone.demonstrations }, run);
    const demonstrations = await demonstrate(world, {
      ...config.clone,
      seed: config.seed,
      maxTurns: config.rollout.maxTurns === 0 ? world.maxTurns : config.rollout.maxTurns,
      turnTimeoutMs: config.rollout.turnTimeoutMs,
      signal: control.signal,
      watch,
      onEpisode: (done, total) =>
        control.report({ type: 'progress', phase: 'demonstrate', done, total }, run),
    });
    const card = designModel(demonstrations, config, recipe);
    engine = await openEngine(card.shape, config);
    const io = runIo(control, run, engine, card, config);
    io.event({
      type: 'start',
      run: run.name,
      environment: world.name,
      recipe: recipe.name,
      seed: config.seed,
      parameters: countParameters(card.shape),
      vocabulary: card.words.length,
      identity: identityOf(card),
      version,
    });
    const learner = createLearner({ config, recipe, world, card, engine, watch });
    return await train(learner, initialState, demonstrations, io);
  } finally {
    await Promise.all([engine?.close(), close()]);
  }
}

/** Ends the process when the environment blocks it for longer than a step may take. */
function watchdog(run: RunDirectory, config: TrainConfig): Watchdog {
  const next = `Mend the environment, then continue with: turnwise resume ${run.name}`;
  return startWatchdog(config.rollout.turnTimeoutMs, next);
}

/** Where the loop reports to: the run's files, and whoever watches. */
function runIo(
  control: RunControl,
  run: RunDirectory,
  engine: Engine,
  card: ModelCard,
  config: TrainConfig,
): RunIo {
  const lag = monitorEventLoopDelay({ resolution: 5 });
  lag.enable();
  return {
    event: (event) => {
      const stored = event.type === 'step' ? withLag(event, lag) : event;
      run.events.append(stored);
      control.report(stored, run);
    },
    progress: (event) => control.report(event, run),
    rollouts: (label, trajectories, credited) =>
      run.writeRollouts(
        label,
        trajectories.map((trajectory) => rolloutRecord(trajectory, credited?.get(trajectory.id))),
      ),
    checkpoint: async (step, state) => {
      const content: CheckpointState = { state, card };
      await run.saveCheckpoint({
        step,
        identity: identityOf(card),
        keep: config.checkpoint.keep,
        state: content as unknown as Json,
        write: (folder) => engine.save(folder),
      });
    },
    now: () => performance.now() / 1000,
    signal: control.signal,
    stopRequested: control.stopRequested,
  };
}

function withLag(
  event: Extract<StoredEvent, { type: 'step' }>,
  lag: ReturnType<typeof monitorEventLoopDelay>,
): StoredEvent {
  const milliseconds = lag.percentile(99) / 1e6;
  lag.reset();
  return { ...event, metrics: { ...event.metrics, 'loop/lag_p99_ms': milliseconds } };
}

/** A policy that a checkpoint holds, ready to play. */
export async function openCheckpoint(request: {
  readonly root: string;
  readonly name: string;
  /** Default: the last. */
  readonly step?: number;
  readonly findFactory: (name: string) => Promise<WorldFactory>;
}): Promise<ReturnType<typeof createLearner>> {
  const run = RunDirectory.openForReading({ root: request.root, name: request.name, version });
  const { config, ...file } = run.readConfig(trainConfigSchema);
  const factory = await request.findFactory(file.environment);
  const checkpoint = await ownCheckpoint(run, request.step);
  const { card } = checkpoint.state as unknown as CheckpointState;
  const engine = await openEngine(card.shape, config);
  await engine.load(checkpoint.folder);
  const world = factory.create(factory.options.parse(config.environment));
  return createLearner({ config, recipe: findRecipe(file.recipe), world, card, engine, watch: unwatched });
}

/** A checkpoint of this run, by default the last. One of another model or vocabulary, copied in by hand, is refused. */
function ownCheckpoint(run: RunDirectory, step?: number): Promise<Checkpoint> {
  const start = run.events.read().find((event) => event.type === 'start');
  return run.checkpoints.open({
    ...(step !== undefined && { step }),
    ...(start !== undefined && { identity: start.identity }),
  });
}

function openEngine(shape: DecoderShape, config: TrainConfig): Promise<Engine> {
  return createEmbeddedEngine({
    shape,
    seed: config.seed,
    threads: config.threads,
    tokenBudget: config.optimizer.tokenBudget,
    slots: config.rollout.concurrency,
  });
}

/** Short enough for a message: equal for equal shapes and words. */
const identityOf = (card: ModelCard): string =>
  createHash('sha256').update(JSON.stringify(card)).digest('hex').slice(0, 16);

const countParameters = (shape: DecoderShape): number =>
  parameterShapes(shape).reduce(
    (sum, parameter) => sum + parameter.shape.reduce((product, length) => product * length, 1),
    0,
  );
