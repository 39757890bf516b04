/**
 * The engine of a browser: the trainer and the sampler of the embedded engine in the thread that calls, which is a worker's.
 * It trains small models whole; adapters and pretrained models need files.
 */

import { TurnwiseError } from '../core/errors.ts';
import { Rng } from '../core/rng.ts';
import { EmbeddedEngine } from '../engine/embedded/embedded-engine.ts';
import type { EngineCore } from '../engine/embedded/engine-core.ts';
import type { EngineHost } from '../engine/embedded/engine-host.ts';
import type { EngineSettings } from '../engine/embedded/engine-settings.ts';
import { SamplingLane } from '../engine/embedded/sampling/sampling-lane.ts';
import { SamplingLanes } from '../engine/embedded/sampling/sampling-lanes.ts';
import { Trainer } from '../engine/embedded/training/trainer.ts';
import { LocalTrainingLane } from '../engine/embedded/training/training-lane.ts';
import { BaseModel } from '../engine/embedded/weights/base-model.ts';
import type { Checkpoint } from '../engine/embedded/weights/checkpoint-parts.ts';
import { copyWeights } from '../model/checkpoint/safetensors.ts';
import { initialWeights, parameterShapes } from '../model/decoder/decoder.ts';

type Settings = Pick<EngineSettings, 'shape' | 'seed' | 'tokenBudget' | 'slots'>;

/** The verbs of the engine's state that need no files. */
type Here = Omit<EngineCore, 'attach' | 'save' | 'load' | 'exportAdapter' | 'exportModel' | 'exportGguf'>;

/** What the engine's state is in its own thread, less files. */
class BrowserCore implements Here {
  readonly #base: BaseModel;
  readonly #trainer: Trainer;
  readonly #sampling: SamplingLanes;
  #version = 0;
  /** Verbs that touch the weights run one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(base: BaseModel, trainer: Trainer, lane: SamplingLane) {
    this.#base = base;
    this.#trainer = trainer;
    this.#sampling = new SamplingLanes([lane]);
  }

  static async create({ shape, seed, tokenBudget, slots }: Settings): Promise<BrowserCore> {
    const values = initialWeights(shape, Rng.of(seed, 'weights'));
    const weights = new Map(
      parameterShapes(shape).map(({ name, shape: sizes }) => [
        name,
        { shape: sizes, data: values.get(name)! },
      ]),
    );
    const base = new BaseModel(new Map(), `random weights, seed ${seed}`, 1);
    base.retain();
    const lane = await SamplingLane.create({ shape, base, threads: 1 }, weights, slots);
    const trainer = new Trainer([new LocalTrainingLane(shape, weights, { base })], weights, tokenBudget);
    return new BrowserCore(base, trainer, lane);
  }

  sample(...request: Parameters<Here['sample']>) {
    return this.#sampling.sample(...request);
  }

  learnTexts(...texts: Parameters<Here['learnTexts']>) {
    return this.#sampling.learnTexts(...texts);
  }

  finish(...conversation: Parameters<Here['finish']>) {
    return this.#sampling.finish(...conversation);
  }

  release(...conversations: Parameters<Here['release']>) {
    return this.#sampling.release(...conversations);
  }

  score(...request: Parameters<Here['score']>) {
    return this.#inTurn(() => this.#trainer.score(...request));
  }

  addProgram(...program: Parameters<Here['addProgram']>) {
    return this.#inTurn(() => this.#trainer.addProgram(...program));
  }

  forwardBackward(...request: Parameters<Here['forwardBackward']>) {
    return this.#inTurn(() => this.#trainer.forwardBackward(...request));
  }

  optimStep(...options: Parameters<Here['optimStep']>) {
    return this.#inTurn(() => this.#trainer.optimStep(...options));
  }

  restartOptimizer() {
    return this.#inTurn(() => this.#trainer.restartOptimizer());
  }

  /** Samples asked for before finish first, samples asked for from now on come after. */
  publish(): Promise<number> {
    const idle = this.#sampling.pause();
    return this.#inTurn(async () => {
      try {
        await idle;
        await this.#sampling.setWeights(this.#trainer.weights, this.#version + 1);
        return ++this.#version;
      } finally {
        this.#sampling.resume();
      }
    });
  }

  freeze(...rate: Parameters<Here['freeze']>) {
    return this.#inTurn(() => this.#trainer.freeze(...rate));
  }

  weights() {
    return this.#inTurn(() => copyWeights(this.#trainer.weights));
  }

  adopt(...weights: Parameters<Here['adopt']>) {
    return this.#inTurn(() => this.#trainer.adopt(...weights));
  }

  statistics() {
    return this.#sampling.statistics();
  }

  /** Weights and moments as they are: to be read at once, since the next step changes them in place. */
  checkpoint(): Promise<Checkpoint> {
    return this.#inTurn(async () => {
      const { weights } = this.#trainer;
      return { weights, ...(await this.#trainer.state()), version: this.#version };
    });
  }

  close(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#sampling.close();
      await this.#trainer.close();
      await this.#base.release();
    });
  }

  #inTurn<T>(work: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

export interface BrowserEngine {
  readonly engine: EmbeddedEngine;
  /** What `save` would write; to be read before the engine works on. */
  checkpoint(): Promise<Checkpoint>;
}

/** An engine over the runtime that `useRuntime` was given, with weights as Node would draw them from the same seed. */
export async function createBrowserEngine(settings: Settings): Promise<BrowserEngine> {
  const core = await BrowserCore.create(settings);
  const host: EngineHost = {
    call: async (verb, parameters) => {
      const work = Reflect.get(core, verb) as ((...given: readonly unknown[]) => unknown) | undefined;
      if (work === undefined) throw needsFiles(verb);
      return (await Reflect.apply(work, core, parameters)) as never;
    },
    attach: () => Promise.reject(needsFiles('attach')),
    close: () => core.close(),
  };
  return {
    engine: new EmbeddedEngine({ ...settings, threads: 1 }, host),
    checkpoint: () => core.checkpoint(),
  };
}

function needsFiles(verb: string): TurnwiseError {
  return new TurnwiseError('engine-unsupported', {
    what: `The engine of a browser does not know ${verb}()`,
    next: 'Take its checkpoint as an archive, and go on with it in Node',
  });
}
