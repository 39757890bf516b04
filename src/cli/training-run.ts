/** The composition root of training: environment, recipe, engine and run directory become one run. */

import { TurnwiseError } from '../core/errors.ts';
import type { Engine } from '../engine/engine.ts';
import type { WorldFactory } from '../env/factory.ts';
import type { World } from '../env/world.ts';
import { startWatchdog, type Watchdog } from '../rollout/watchdog.ts';
import { RunDirectory } from '../store/run-directory.ts';
import { commandIn } from '../store/runs.ts';
import { type TrainConfig, type TrainSettings, trainConfigSchema } from '../train/config.ts';
import type { RunSummary } from '../train/events.ts';
import { createLearner } from '../train/learner.ts';
import { initialState, train } from '../train/loop.ts';
import type { Recipe } from '../train/recipes/recipe.ts';
import { findRecipe } from '../train/recipes/recipes.ts';
import { besideAgent, openAgentRun } from './agent-run.ts';
import { languageOf, movedTo } from './policy-language.ts';
import { prepareRun } from './prepare-run.ts';
import { recordedEpisodes } from './recorded-episodes.ts';
import { type CheckpointState, openWarmStart, ownCheckpoint, withHeadsOf } from './run-checkpoint.ts';
import { playDemonstrations } from './run-demonstrations.ts';
import { criticFolder, type RunControl, runIo, waitingReport } from './run-io.ts';
import {
  countParameters,
  designCard,
  identityOf,
  type OpenBase,
  openBase,
  openCritic,
  openEngine,
  reopenBase,
} from './run-model.ts';
import { version } from './version.ts';

export interface StartRequest extends RunControl {
  readonly factory: WorldFactory;
  readonly recipe: string;
  readonly settings: TrainSettings;
  readonly name?: string;
}

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
    if (warm) await engine.load(warm.folder, { optimizer: false });
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

/** Ends the process when the environment blocks it for longer than a step may take. */
function watchdog(root: string, run: RunDirectory, config: TrainConfig): Watchdog {
  const next = `Mend the environment, then continue with: ${commandIn(root, `resume ${run.name}`)}`;
  return startWatchdog(config.rollout.turnTimeoutMs, next);
}
