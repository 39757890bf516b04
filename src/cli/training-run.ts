/** The composition root of training: environment, recipe, engine and run directory become one run. */

import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { TurnwiseError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import type { Trajectory } from '../core/trajectory.ts';
import type { EmbeddedEngine } from '../engine/embedded/embedded-engine.ts';
import type { Engine } from '../engine/engine.ts';
import type { TinkerEngine } from '../engine/tinker/tinker-engine.ts';
import type { WorldFactory } from '../env/factory.ts';
import type { World } from '../env/world.ts';
import { startWatchdog, unwatched, type Watch, type Watchdog } from '../rollout/watchdog.ts';
import { RunDirectory } from '../store/run-directory.ts';
import { commandIn } from '../store/runs.ts';
import { demonstrate } from '../synth/demonstrations.ts';
import { type TrainConfig, type TrainSettings, trainConfigSchema } from '../train/config.ts';
import type { RunEvent, RunSummary, StoredEvent } from '../train/events.ts';
import { createLearner, type Learner } from '../train/learner.ts';
import { initialState, type RunIo, train } from '../train/loop.ts';
import { conversationRendererOf, type ModelCard, rendererOf } from '../train/model-card.ts';
import type { Recipe } from '../train/recipes/recipe.ts';
import { findRecipe } from '../train/recipes/recipes.ts';
import { rolloutRecord } from '../train/rollout-record.ts';
import { type AgentRun, besideAgent, openAgentRun } from './agent-run.ts';
import { prepareRun } from './prepare-run.ts';
import { recordedEpisodes } from './recorded-episodes.ts';
import { type CheckpointState, openWarmStart, ownCheckpoint, withHeadsOf } from './run-checkpoint.ts';
import {
  countParameters,
  designCard,
  type EngineWatch,
  identityOf,
  type ModelSearch,
  type OpenBase,
  openBase,
  openCritic,
  openEngine,
  reopenBase,
} from './run-model.ts';
import { version } from './version.ts';

export interface RunControl extends Pick<ModelSearch, 'onDownload'> {
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

/** Episodes whose actions are shown to a pretrained model as examples. */
const ACTION_SAMPLES = 64;

/** Train from the beginning. */
export async function startRun(request: StartRequest): Promise<RunSummary> {
  const { factory, root } = request;
  const { recipe, config, world } = prepareRun(factory, findRecipe(request.recipe), request.settings);
  const open = await openBase(config, request);
  const run = RunDirectory.create({
    root,
    version,
    environment: factory.source ?? factory.name,
    label: factory.name,
    recipe: recipe.name,
    config,
    ...(request.name === undefined ? {} : { name: request.name }),
  });
  try {
    return await begin(request, run, world, recipe, config, open);
  } finally {
    run.close();
  }
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
      return await begin(request, run, world, recipe, file.config, await openBase(file.config, request));
    }
    const { state, card } = checkpoint.state as unknown as CheckpointState;
    // A budget may end a run before the last of its steps; and where the last checkpoint was lost, an earlier one goes on.
    const last = run.events.read().at(-1);
    if (last?.type === 'finish' && last.summary.steps === state.step) {
      throw new TurnwiseError('run-finished', {
        what: `The run "${run.name}" has finished`,
        seen: `${state.step} steps`,
        next: `See it with "${commandIn(request.root, `runs show ${run.name}`)}"`,
      });
    }
    run.rewind(checkpoint);
    const open = await reopenBase(card, request);
    const agentRun = world.agent && (await openAgentRun(world.agent));
    const { watch, close } = watchdog(request.root, run, file.config);
    let engine: Engine | undefined;
    let critic: Engine | undefined;
    try {
      const opened = await openEngine(card, file.config, open, waitingReport(request, run));
      engine = agentRun ? besideAgent(opened, agentRun) : opened;
      await engine.load(checkpoint.folder);
      critic = await openCritic(card, file.config, recipe, open);
      await critic?.load(criticFolder(checkpoint.folder));
      const language = await languageOf(movedTo(card, open), file.config, world, agentRun);
      const parts = { config: file.config, recipe, world, card, engine, watch, ...language };
      const learner = createLearner({ ...parts, ...(critic && { critic }) });
      const io = runIo(request, run, learner);
      io.event({ type: 'resume', step: state.step });
      return await train(learner, state, { demonstrations: [] }, io);
    } finally {
      await Promise.all([engine ? engine.close() : agentRun?.close(), critic?.close(), close()]);
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
  open: OpenBase | undefined,
): Promise<RunSummary> {
  const { watch, close } = watchdog(control.root, run, config);
  const agentRun = world.agent && (await openAgentRun(world.agent));
  let engine: Engine | undefined;
  let critic: Engine | undefined;
  try {
    const warm = config.start === '' ? undefined : await openWarmStart(control.root, world.name, config);
    const demonstrations =
      warm && config.data !== 'demonstrations'
        ? []
        : await playDemonstrations(control, run, world, config, watch, agentRun);
    const card = warm
      ? withHeadsOf(warm.card, recipe, config)
      : designCard(world, demonstrations, config, recipe, open);
    const opened = await openEngine(card, config, open, waitingReport(control, run));
    engine = agentRun ? besideAgent(opened, agentRun) : opened;
    critic = await openCritic(card, config, recipe, open);
    if (warm) await engine.load(warm.folder);
    const language = await languageOf(card, config, world, agentRun);
    const parts = { config, recipe, world, card, engine, watch, ...language };
    const learner = createLearner({ ...parts, ...(critic && { critic }) });
    const io = runIo(control, run, learner);
    io.event({
      type: 'start',
      run: run.name,
      environment: world.name,
      recipe: recipe.name,
      seed: config.seed,
      ...countParameters(card, config),
      vocabulary: card.shape.vocabulary,
      ...(open && { base: open.base.reference }),
      ...(config.engine === 'tinker' && { server: `${config.tinker.baseModel} at ${config.tinker.baseUrl}` }),
      identity: identityOf(card),
      version,
    });
    const recorded = recordedEpisodes(control.root, learner, demonstrations);
    const beginning = warm ? { before: warm.before } : { demonstrations };
    return await train(learner, initialState, { ...beginning, recorded }, io);
  } finally {
    await Promise.all([engine ? engine.close() : agentRun?.close(), critic?.close(), close()]);
  }
}

/** How the model reads and writes, and for an agent, how it plays. */
async function languageOf(
  card: ModelCard,
  config: TrainConfig,
  world: World,
  agentRun: AgentRun | undefined,
): Promise<Pick<Learner, 'renderer' | 'playWith'>> {
  if (!agentRun) return { renderer: await rendererOf(card, config, world) };
  const renderer = await conversationRendererOf(card, config);
  return { renderer, playWith: agentRun.playWith(renderer) };
}

/** Demonstrations to imitate, or a few to learn of the actions from where a pretrained model imitates nothing. */
async function playDemonstrations(
  control: RunControl,
  run: RunDirectory,
  world: World,
  config: TrainConfig,
  watch: Watch,
  agentRun: AgentRun | undefined,
): Promise<Trajectory[]> {
  const imitates = config.model.pretrained === '' || config.clone.steps > 0;
  if (agentRun && config.model.pretrained !== '') {
    if (imitates) throw noImitation(config.clone.steps);
    return [];
  }
  // An environment without a scripted player has nothing to imitate, and here needs nothing.
  if (!imitates && world.script === undefined) return [];
  const { demonstrations } = config.clone;
  const count = imitates ? demonstrations : Math.min(ACTION_SAMPLES, demonstrations);
  control.report({ type: 'phase', phase: 'demonstrate', steps: count }, run);
  try {
    return await demonstrate(world, {
      ...config.clone,
      demonstrations: count,
      seed: config.seed,
      maxTurns: config.rollout.maxTurns === 0 ? world.maxTurns : config.rollout.maxTurns,
      turnTimeoutMs: config.rollout.turnTimeoutMs,
      exchanges: config.rollout.exchangeEvery > 0,
      signal: control.signal,
      watch,
      ...(agentRun && { play: agentRun.demonstrations(config) }),
      onEpisode: (done, total) =>
        control.report({ type: 'progress', phase: 'demonstrate', done, total }, run),
    });
  } catch (error) {
    if (!imitates && TurnwiseError.isInstance(error) && error.code === 'no-demonstrations') return [];
    throw error;
  }
}

function noImitation(steps: number): TurnwiseError {
  return new TurnwiseError('config-invalid', {
    what: 'A pretrained model does not imitate an agent’s teacher: teachers write in the form of small models',
    seen: `clone.steps ${steps}`,
    allowed: '0 where --model is given for an agent',
    next: 'Add --set clone.steps=0',
    fields: { key: 'clone.steps' },
  });
}

/** The card with the folder in which its base was found this time. */
function movedTo(card: ModelCard, open: OpenBase | undefined): ModelCard {
  return open === undefined || 'words' in card ? card : { ...card, base: open.base };
}

/** Ends the process when the environment blocks it for longer than a step may take. */
function watchdog(root: string, run: RunDirectory, config: TrainConfig): Watchdog {
  const next = `Mend the environment, then continue with: ${commandIn(root, `resume ${run.name}`)}`;
  return startWatchdog(config.rollout.turnTimeoutMs, next);
}

/** Says that a server lets us wait, and why: it is no part of the run's history. */
function waitingReport({ report }: RunControl, run: RunDirectory): EngineWatch {
  return { onWait: (message) => report({ type: 'warning', code: 'engine-waiting', message }, run) };
}

/** Where the loop reports to: the run's files, and whoever watches. */
function runIo(control: RunControl, run: RunDirectory, { engine, critic, card, config }: Learner): RunIo {
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
        write: async (folder) => {
          await engine.save(folder);
          await critic?.save(criticFolder(folder));
        },
      });
    },
    now: () => performance.now() / 1000,
    signal: control.signal,
    stopRequested: control.stopRequested,
  };
}

/** Where a checkpoint keeps the critic's own model. */
function criticFolder(checkpoint: string): string {
  return join(checkpoint, 'critic');
}

function withLag(
  event: Extract<StoredEvent, { type: 'step' }>,
  lag: ReturnType<typeof monitorEventLoopDelay>,
): StoredEvent {
  const milliseconds = lag.percentile(99) / 1e6;
  lag.reset();
  return { ...event, metrics: { ...event.metrics, 'loop/lag_p99_ms': milliseconds } };
}

type OpenedEngine = EmbeddedEngine | TinkerEngine;

/** A policy with the engine that holds it; it is to be closed. */
export type OpenedCheckpoint = Learner & {
  readonly engine: OpenedEngine;
  /** Ends the engine, and for an agent what it plays through. */
  close(): Promise<void>;
};

/** A policy that a checkpoint holds, ready to play. */
export async function openCheckpoint(request: {
  readonly root: string;
  readonly name: string;
  /** Default: the last. */
  readonly step?: number;
  readonly findFactory: (name: string) => Promise<WorldFactory>;
  readonly signal: AbortSignal;
}): Promise<OpenedCheckpoint> {
  const run = RunDirectory.openForReading({ root: request.root, name: request.name, version });
  const { config, ...file } = run.readConfig(trainConfigSchema);
  const factory = await request.findFactory(file.environment);
  const checkpoint = await ownCheckpoint(run, request.step);
  const { card } = checkpoint.state as unknown as CheckpointState;
  const world = factory.create(factory.options.parse(config.environment));
  const open = await reopenBase(card, request);
  const agentRun = world.agent && (await openAgentRun(world.agent));
  let engine: OpenedEngine | undefined;
  const close = async (): Promise<void> => {
    await Promise.all([agentRun?.close(), engine?.close()]);
  };
  try {
    const language = await languageOf(movedTo(card, open), config, world, agentRun);
    const opened = await openEngine(card, config, open);
    engine = opened;
    await opened.load(checkpoint.folder);
    const recipe = findRecipe(file.recipe);
    const learner = createLearner({
      config,
      recipe,
      world,
      card,
      engine: opened,
      watch: unwatched,
      ...language,
    });
    return { ...learner, engine: opened, close };
  } catch (error) {
    await close();
    throw error;
  }
}
