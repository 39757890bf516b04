/** A run in a browser, from its beginning to its end: what run/training-run.ts joins in Node, without files and processes. */

import type { Group, StepCredit } from '../core/episode.ts';
import { TurnwiseError } from '../core/errors.ts';
import { embeddedAbilities } from '../engine/embedded/embedded-engine.ts';
import type { WorldFactory } from '../env/factory.ts';
import { testTasksOf } from '../env/tasks/practised.ts';
import { type Provider, useRuntime, type WebRuntime } from '../graph/browser/loaded-graph.ts';
import { wordRenderer } from '../model/chat/renderer.ts';
import { parameterShapes } from '../model/decoder/decoder.ts';
import { WordTokenizer } from '../model/tokenizer/word-tokenizer.ts';
import { unwatched } from '../rollout/watch.ts';
import { factoryOf } from '../run/load/world-object.ts';
import { CODE } from '../run/load/world-source.ts';
import { version } from '../run/version.ts';
import { demonstrate } from '../synth/demonstrations.ts';
import { builtIns } from '../train/config/catalogue.ts';
import type { TrainConfig, TrainSettings } from '../train/config/config.ts';
import { resolveConfig } from '../train/config/resolve.ts';
import { demonstratedWays } from '../train/design/demonstrated-ways.ts';
import { criticShape, designModel } from '../train/design/design-model.ts';
import { requireFit } from '../train/fit/fit.ts';
import { Archive } from '../train/kit/archive.ts';
import { createLearner, type Learner } from '../train/kit/learner.ts';
import type { RunEvent, RunSummary, StoredEvent } from '../train/loop/events.ts';
import { type RunIo, train } from '../train/loop/loop.ts';
import { initialState } from '../train/loop/state.ts';
import { isLocal, type SmallModelCard } from '../train/model-card.ts';
import { rloo } from '../train/recipes/policy-gradient/rloo.ts';
import type { Recipe } from '../train/recipes/recipe.ts';
import { createBrowserEngine } from './engine.ts';
import { ensureImmediate } from './immediate.ts';
import { checkpointFiles, identityOf, type KeptCheckpoint, runArchive } from './run-archive.ts';
import type { ArchivedFile } from './tar.ts';

/** Episodes as they end: a step's with their credit, an evaluation's by how they were played. */
export interface PlayedEpisodes {
  readonly step: number;
  readonly label: 'training' | 'sampled' | 'greedy';
  readonly groups: readonly Group[];
  readonly credit?: StepCredit;
}

export interface BrowserRunOptions {
  /** `onnxruntime-web`, as it was imported. Its threads are its own: `env.wasm.numThreads`. */
  readonly runtime: WebRuntime;
  /** What computes. Default: `wasm`. */
  readonly provider?: Provider;
  /** What `defineEnvironment`, `defineGame` or `defineWorld` returned, or an environment as a plain object. */
  readonly world: object;
  /** Default: `rloo`. */
  readonly recipe?: Recipe;
  /** As `train({ settings })` takes them in Node. */
  readonly settings?: TrainSettings;
  readonly onEvent?: (event: RunEvent) => void;
  readonly onEpisodes?: (played: PlayedEpisodes) => void;
  /** Aborted: drop everything at once. What was learned up to the last checkpoint is kept. */
  readonly signal?: AbortSignal;
}

/** A run that is going on, or has ended. */
export interface BrowserRun {
  /** The summary; rejects with what ended the run otherwise. */
  readonly finished: Promise<RunSummary>;
  /** Words of the model, by their ids. Empty before it is made. */
  readonly words: readonly string[];
  /** Step of the last checkpoint; undefined before the first. */
  readonly checkpointStep: number | undefined;
  /**
   * The run with its last checkpoint as a `tar` archive of one folder: unpacked in the folder of runs, `turnwise play` opens it.
   *
   * @param further files that belong to it, with paths inside the folder
   * @throws TurnwiseError `checkpoint-missing` before the first
   */
  archive(name: string, further?: readonly ArchivedFile[]): Promise<Uint8Array<ArrayBuffer>>;
}

/** A world with where it comes from, and the settings of a run in it, complete. */
interface Prepared {
  readonly factory: WorldFactory;
  readonly recipe: Recipe;
  readonly config: TrainConfig;
}

/**
 * Train an agent in this thread, which should be a worker's: each pass blocks it. Small models that learn the words of their
 * task are trained here; pretrained models, seats of other players and servers need Node.
 *
 * @example
 * import * as runtime from 'onnxruntime-web/wasm';
 * import { frozenLake, trainInBrowser } from 'turnwise/browser';
 *
 * const run = trainInBrowser({ runtime, world: frozenLake, settings: { steps: 60 }, onEvent: console.log });
 * const { after } = await run.finished;
 * const archive = await run.archive('lake');
 *
 * @throws TurnwiseError `config-invalid`, `config-unknown-key`, `recipe-unfit`
 */
export function trainInBrowser(options: BrowserRunOptions): BrowserRun {
  ensureImmediate();
  useRuntime(options.runtime, options.provider);
  return new RunInBrowser(options, prepare(options));
}

function prepare({ world, recipe = rloo, settings = {} }: BrowserRunOptions): Prepared {
  const factory = factoryOf(world);
  if (factory === undefined)
    throw new TurnwiseError('config-invalid', {
      what: '"world" is not a world',
      seen: Array.isArray(world)
        ? 'an array'
        : `an object with ${Object.keys(world).join(', ') || 'no fields'}`,
      allowed:
        'an object with name, description, maxTurns, tasks(split), start(task) and step(state, action)',
      next: 'Give it what is missing; each of the three is a function',
      fields: { key: 'world' },
    });
  const config = resolveConfig({
    recipe,
    catalogue: builtIns,
    environmentOptions: factory.options,
    ...(factory.settings && { environmentSettings: factory.settings }),
    settings,
  });
  refuseWhatNeedsFiles(config);
  return { factory, recipe, config };
}

function refuseWhatNeedsFiles({ engine, model, start, data, seats, players }: TrainConfig): void {
  const asked = Object.entries({
    engine: engine !== 'embedded',
    'model.pretrained': model.pretrained !== '',
    start: start !== '',
    data: data !== '' && data !== 'demonstrations',
    seats: Object.keys(seats).length > 0,
    players: Object.keys(players).length > 0,
  }).find(([, isSet]) => isSet);
  if (asked === undefined) return;
  throw new TurnwiseError('config-invalid', {
    what: `A run in a browser cannot use "${asked[0]}", which needs files or other processes`,
    next: 'Leave it out, or train with Node',
    fields: { key: asked[0] },
  });
}

class RunInBrowser implements BrowserRun {
  readonly finished: Promise<RunSummary>;
  readonly #options: BrowserRunOptions;
  readonly #prepared: Prepared;
  readonly #events: (StoredEvent & { readonly time: string })[] = [];
  readonly #source: string;
  #card: SmallModelCard | undefined;
  #kept: KeptCheckpoint | undefined;
  #worldName = '';

  constructor(options: BrowserRunOptions, prepared: Prepared) {
    this.#options = options;
    this.#prepared = prepared;
    this.#source = prepared.factory.source ?? CODE;
    this.finished = this.#run();
  }

  get words(): readonly string[] {
    return this.#card?.words ?? [];
  }

  get checkpointStep(): number | undefined {
    return this.#kept?.state.step;
  }

  async archive(name: string, further: readonly ArchivedFile[] = []): Promise<Uint8Array<ArrayBuffer>> {
    const { recipe, config } = this.#prepared;
    if (this.#kept === undefined || this.#card === undefined)
      throw new TurnwiseError('checkpoint-missing', {
        what: `Run "${name}" has no checkpoint`,
        next: 'Wait until it has imitated its demonstrations',
      });
    return runArchive({
      ...{ name, version, recipe, config, further },
      catalogue: builtIns,
      world: { name: this.#worldName, source: this.#source },
      card: this.#card,
      events: this.#events,
      checkpoint: this.#kept,
    });
  }

  #tell(event: RunEvent): void {
    if (event.type !== 'progress') {
      const opens = event.type === 'start' && { generation: 1 };
      this.#events.push({ ...event, ...opens, time: new Date().toISOString() });
    }
    this.#options.onEvent?.(event);
  }

  async #run(): Promise<RunSummary> {
    // Whoever called gets the run before its first event.
    await undefined;
    const { factory, recipe, config } = this.#prepared;
    const { signal = new AbortController().signal } = this.#options;
    const world = factory.create(config.environment);
    this.#worldName = world.name;
    requireFit(recipe, config, { world, engine: embeddedAbilities }, () => []);
    const ways = demonstratedWays(config, world);
    const each = config.clone.demonstrations;
    const all = each * ways.length;
    this.#tell({ type: 'phase', phase: 'demonstrate', steps: all });
    const played: Group[][] = [];
    for (const [index, way] of ways.entries())
      played.push(
        await demonstrate(world, {
          ...config.clone,
          ...way,
          seed: config.seed,
          exchanges: config.rollout.exchangeEvery > 0,
          signal,
          watch: unwatched,
          onEpisode: (done) =>
            this.#tell({ type: 'progress', phase: 'demonstrate', done: index * each + done, total: all }),
        }),
      );
    const [demonstrations = []] = played;
    // Those of stages are not imitated: the model has their words, and room for them.
    const card = designModel(played.flat(), config, recipe, world);
    const { shape } = card;
    if (!isLocal(shape)) throw new Error('refused by prepare()');
    this.#card = card;
    const settings = { tokenBudget: config.optimizer.tokenBudget, slots: config.rollout.concurrency };
    const { engine, checkpoint } = await createBrowserEngine({ ...settings, shape, seed: config.seed });
    const ofCritic = criticShape(recipe, shape);
    const critic =
      ofCritic &&
      (await createBrowserEngine({ ...settings, shape: ofCritic, seed: config.seed + 1_000_003 })).engine;
    try {
      const learner = createLearner({
        ...{ config, recipe, world, card, engine },
        ...(critic && { critic }),
        watch: unwatched,
        archive: new Archive(async () => []),
        renderer: wordRenderer(new WordTokenizer(card.words), card.maxActionWords),
      });
      this.#tell(await this.#startEvent(learner, card));
      const io: RunIo = {
        event: (event) => this.#tell(event),
        progress: (event) => this.#tell(event),
        rollouts: async (step, groups, credit) =>
          this.#options.onEpisodes?.({ step, label: 'training', groups, ...(credit && { credit }) }),
        evaluation: async (step, played) => {
          for (const label of ['sampled', 'greedy'] as const)
            this.#options.onEpisodes?.({ step, label, groups: played[label] });
        },
        checkpoint: async (_step, state) => {
          const files = checkpointFiles(await checkpoint());
          this.#kept = { state, files, events: this.#events.length };
        },
        now: () => performance.now() / 1000,
        goOn: 'Remove the cause, then start again.',
        signal,
        stopRequested: () => false,
      };
      return await train(learner, initialState, { imitate: { demonstrations } }, io);
    } finally {
      await engine.close();
      await critic?.close();
    }
  }

  async #startEvent(
    { config, recipe, world, renderer }: Learner,
    card: SmallModelCard,
  ): Promise<StoredEvent> {
    const shapes = isLocal(card.shape) ? parameterShapes(card.shape) : [];
    const sizeOf = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);
    return {
      type: 'start',
      run: 'browser',
      environment: world.name,
      recipe: recipe.name,
      seed: config.seed,
      parameters: shapes.reduce((sum, { shape }) => sum + sizeOf(shape), 0),
      vocabulary: card.shape.vocabulary,
      identity: await identityOf(card),
      version,
      testTasks: testTasksOf(world),
      turnTokens: renderer.maxTurnTokens,
      runtime: `onnxruntime-web, ${this.#options.provider ?? 'wasm'}`,
    };
  }
}
