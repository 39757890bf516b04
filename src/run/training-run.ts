/** One run from its beginning to its end: world, recipe, engine and run directory are joined here. */

import { z } from 'zod';
import { TurnwiseError } from '../core/errors.ts';
import type { Engine } from '../engine/engine.ts';
import type { WorldFactory } from '../env/factory.ts';
import { testTasksOf } from '../env/tasks/practised.ts';
import { unrepeatableOf } from '../env/world.ts';
import { withUserCode } from '../rollout/node/stray-errors.ts';
import { RunDirectory } from '../store/run-directory.ts';
import { commandIn } from '../store/runs.ts';
import { catalogueWith } from '../train/config/own-definitions.ts';
import { ownConfig } from '../train/config/run-schema.ts';
import type { RunSettings } from '../train/config/setting-objects.ts';
import { Archive } from '../train/kit/archive.ts';
import type { RunSummary } from '../train/loop/events.ts';
import { train } from '../train/loop/loop.ts';
import { initialState } from '../train/loop/state.ts';
import { limitedByActions } from '../train/model-card.ts';
import { beginningOf, openRecorded } from './data/run-beginning.ts';
import { estimateIn, estimateRun, requireRoomFor, withEvaluations } from './estimate/estimate-run.ts';
import { spendEstimate } from './estimate/spend-estimate.ts';
import type { Definition } from './load/definitions.ts';
import { worldOfRun } from './load/run-world.ts';
import { changedCode, userFiles } from './load/user-files.ts';
import { runWorldOf } from './load/world-source.ts';
import { besideAgent, openAgentRun } from './model/agent-run.ts';
import { askElsewhere } from './model/ask-model.ts';
import { languageOf, movedTo } from './model/policy-language.ts';
import {
  countParameters,
  designCard,
  identityOf,
  type OpenBase,
  openBase,
  openCritic,
  openEngine,
  reopenBase,
} from './model/run-model.ts';
import { runtime, runtimeWarning } from './model/runtime-version.ts';
import { withProposer } from './players/open-proposer.ts';
import { type OpenSeats, openSeats } from './players/open-seats.ts';
import { unseatedIn } from './players/player-source.ts';
import { type PreparedRun, prepareRun } from './prepare-run.ts';
import { requirePromptsToFit } from './prompts-fit.ts';
import { requireKnownPrompts } from './prompts-known.ts';
import { type CheckpointState, openWarmStart, ownCheckpoint, withHeadsOf } from './run-checkpoint.ts';
import { needsDemonstrations, noDemonstrations, playDemonstrations } from './run-demonstrations.ts';
import { criticFolder } from './run-folders.ts';
import { type OpenIo, openIo, type RunControl, waitingReport } from './run-io.ts';
import { learnerOf, placeOfRun, spentSeconds, watchdog } from './run-parts.ts';
import { openScorers, type Scorers, withPlaces } from './scorers.ts';
import { catalogueOf, nameDefinitions, requireOptions } from './settings/run-definitions.ts';
import { nameRecipe, type RecipeInput, readRunFile, recipeOfRun } from './settings/run-recipe.ts';
import { version } from './version.ts';

export interface StartRequest extends RunControl {
  readonly factory: WorldFactory;
  readonly recipe: RecipeInput;
  readonly settings: RunSettings;
  readonly name?: string;
}

export interface ResumeRequest extends RunControl {
  readonly name: string;
  /** The world itself, where it cannot be loaded again. */
  readonly world?: WorldFactory;
  /** Definitions that only a program has. */
  readonly definitions?: readonly Definition[];
}

/** Train from the beginning. */
export function startRun(request: StartRequest): Promise<RunSummary> {
  return withUserCode(request.signal, (signal, strays) => start({ ...request, signal, strays }));
}

async function start(request: StartRequest): Promise<RunSummary> {
  const { factory, root } = request;
  const named = await nameRecipe(request.recipe);
  const { settings, catalogue: given } = await nameDefinitions(named.settings, request.settings);
  const prepared = prepareRun(factory, named.recipe, settings, given);
  const { recipe, world, catalogue } = prepared;
  const config = withPlaces(root, prepared.config);
  const open = await openBase(config, request);
  const file = {
    world: runWorldOf(factory, world),
    recipe: named.source,
    config: ownConfig(recipe, config, catalogue),
  };
  const run = RunDirectory.create({
    ...{ root, version, ...file },
    files: userFiles(file),
    recipeName: recipe.name,
    ...(request.name === undefined ? {} : { name: request.name }),
  });
  try {
    return await begin(request, run, { world, recipe, config, catalogue, open });
  } catch (error) {
    // Refused before anything happened: such a folder would only stand in the way of good ones.
    if (TurnwiseError.isInstance(error) && error.code !== 'cancelled' && run.events.bytes === 0) run.remove();
    throw error;
  } finally {
    await run.close();
  }
}

/** Continue a run from its last checkpoint, or from its beginning where it has none yet. */
export function resumeRun(request: ResumeRequest): Promise<RunSummary> {
  return withUserCode(request.signal, (signal, strays) => goOn({ ...request, signal, strays }));
}

async function goOn(request: ResumeRequest): Promise<RunSummary> {
  const run = RunDirectory.openForWriting({ root: request.root, name: request.name, version });
  try {
    const file = readRunFile(run);
    const { config } = file;
    const recipe = await recipeOfRun(request.name, file, request.definitions);
    const world = await worldOfRun(request, file);
    const catalogue = catalogueWith(recipe, await catalogueOf(config, request.definitions, request.name));
    requireOptions(recipe, config, catalogue);
    const checkpoint = run.checkpoints.steps().length > 0 ? await ownCheckpoint(run) : undefined;
    if (!checkpoint) {
      run.rewind(undefined);
      return await begin(request, run, {
        world,
        recipe,
        config,
        catalogue,
        open: await openBase(config, request),
      });
    }
    const { state, card } = checkpoint.state as unknown as CheckpointState;
    // A budget may end a run before the last of its steps; and where the last checkpoint was lost, an earlier one goes on.
    const last = run.events.last();
    if (last?.type === 'finish' && last.summary.steps === state.step) {
      throw new TurnwiseError('run-finished', {
        what: `The run "${run.name}" has finished`,
        seen: `${state.step} steps`,
        next: `See it with "${commandIn(request.root, `runs show ${run.name}`)}"`,
      });
    }
    const warnings = [...run.rewind(checkpoint), ...changedCode(file)];
    const history = run.events.read();
    const open = await reopenBase(card, request);
    const spends = spendEstimate(world, config, request.spend?.limits, state.step, catalogue);
    if (spends) request.report(spends, run);
    const agentRun = world.agent && (await openAgentRun(world.agent, request.spend));
    const { watch, close } = watchdog(request.root, run, config);
    let engine: Engine | undefined;
    let critic: Engine | undefined;
    let seats: OpenSeats | undefined;
    let scorers: Scorers | undefined;
    let io: OpenIo | undefined;
    try {
      const opened = await openEngine(card, config, open, waitingReport(request, run));
      engine = agentRun ? besideAgent(opened, agentRun) : opened;
      await engine.load(checkpoint.folder);
      critic = await openCritic(card, config, recipe, open, { engine: opened, open });
      await critic?.load(criticFolder(checkpoint.folder));
      const language = await languageOf(movedTo(card, open), config, world, agentRun);
      const archive = new Archive((keys) => run.readRollouts().read(keys));
      const askModel = askElsewhere(request.spend);
      const parts = { config, recipe, catalogue, world, card, engine, watch, archive, askModel, ...language };
      const from = { folder: checkpoint.folder, optimizer: true };
      const unseated = unseatedIn(config, catalogue);
      seats = await openSeats({ ...parts, ...placeOfRun(request, run), open, from, unseated });
      scorers = await openScorers(request, parts, { engine: opened, open });
      const learner = withEvaluations(
        learnerOf(withProposer(parts, request), critic, seats, scorers, request),
        estimateIn(history),
      );
      io = await openIo(request, run, learner, state.step, () => agentRun?.gateway.ignored ?? {});
      const computes = config.engine === 'embedded';
      const warning = computes ? runtimeWarning(history) : undefined;
      io.event({
        type: 'resume',
        step: state.step,
        ...(state.underWay > 0 && { dropped: state.underWay }),
        ...(computes && { runtime }),
      });
      for (const told of warnings) io.event(told);
      if (warning) io.event(warning);
      return await train(
        learner,
        state,
        { imitate: { demonstrations: [] } },
        io,
        spentSeconds(run, state.step),
      );
    } finally {
      await Promise.all([
        ...[engine ? engine.close() : agentRun?.close(), critic?.close()],
        ...[seats?.close(), scorers?.close(), close(), io?.close()],
      ]);
    }
  } finally {
    await run.close();
  }
}

async function begin(
  control: RunControl,
  run: RunDirectory,
  { world, recipe, config, catalogue, open }: PreparedRun & { readonly open: OpenBase | undefined },
): Promise<RunSummary> {
  const spends = spendEstimate(world, config, control.spend?.limits, 0, catalogue);
  if (spends) control.report(spends, run);
  const { watch, close } = watchdog(control.root, run, config);
  const agentRun = world.agent && (await openAgentRun(world.agent, control.spend));
  let engine: Engine | undefined;
  let critic: Engine | undefined;
  let seats: OpenSeats | undefined;
  let scorers: Scorers | undefined;
  let io: OpenIo | undefined;
  try {
    const here = run.readConfig(z.unknown()).world;
    const warm = config.start === '' ? undefined : await openWarmStart(control.root, here, config);
    const recorded = await openRecorded(control.root, config, world);
    const { demonstrations, ofStages } = needsDemonstrations({
      warm: warm !== undefined,
      recorded,
      config,
      world,
    })
      ? await playDemonstrations(control, run, world, config, watch, agentRun, catalogue)
      : noDemonstrations;
    // What a teacher scored is learned by its ids, whose words are those of demonstrations.
    const byIds = recipe.needs?.teacher !== undefined && demonstrations.length > 0;
    const shown = byIds ? demonstrations : [...demonstrations, ...(recorded?.groups ?? [])];
    const designed = warm
      ? withHeadsOf(warm.card, recipe, config)
      : designCard(world, { shown, ofStages }, config, recipe, open, catalogue);
    const card =
      warm || 'words' in designed
        ? designed
        : await limitedByActions(designed, config, world, [...demonstrations, ...ofStages]);
    requireRoomFor(card, config);
    const opened = await openEngine(card, config, open, waitingReport(control, run));
    engine = agentRun ? besideAgent(opened, agentRun) : opened;
    critic = await openCritic(card, config, recipe, open, { engine: opened, open });
    if (warm) await engine.load(warm.folder, { optimizer: false });
    const language = await languageOf(card, config, world, agentRun);
    const archive = new Archive((keys) => run.readRollouts().read(keys));
    const askModel = askElsewhere(control.spend);
    const parts = { config, recipe, catalogue, world, card, engine, watch, archive, askModel, ...language };
    const from = warm && { folder: warm.folder, optimizer: false };
    const unseated = unseatedIn(config, catalogue);
    seats = await openSeats({ ...parts, ...placeOfRun(control, run), open, unseated, ...(from && { from }) });
    scorers = await openScorers(control, parts, { engine: opened, open });
    let learner = learnerOf(withProposer(parts, control), critic, seats, scorers, control);
    requireKnownPrompts(learner);
    const unrepeatable = unrepeatableOf(world);
    io = await openIo(control, run, learner, 0, () => agentRun?.gateway.ignored ?? {});
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
      testTasks: testTasksOf(world),
      ...(unrepeatable && { unrepeatable }),
      turnTokens: learner.renderer.maxTurnTokens,
      ...(config.engine === 'embedded' && { runtime }),
    });
    for (const event of requirePromptsToFit(learner, [...demonstrations, ...ofStages])) io.event(event);
    const estimated = await estimateRun(learner, demonstrations, control.signal);
    for (const event of estimated ?? []) io.event(event);
    learner = withEvaluations(learner, estimated?.[0]);
    const begun = await beginningOf({ learner, demonstrations, warm, recorded, io });
    archive.add(begun.archived);
    return await train(learner, initialState, begun.beginning, io);
  } finally {
    await Promise.all([
      ...[engine ? engine.close() : agentRun?.close(), critic?.close()],
      ...[seats?.close(), scorers?.close(), close(), io?.close()],
    ]);
  }
}
