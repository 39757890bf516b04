/** An engine that does some things in its own way, and everything else as another does. */

import type { Engine } from './engine.ts';

/** @param own what is not passed on */
export function delegateTo(engine: Engine, own: Partial<Omit<Engine, 'version' | 'capabilities'>>): Engine {
  return {
    get version() {
      return engine.version;
    },
    capabilities: engine.capabilities,
    sample: (request) => engine.sample(request),
    release: (conversations) => engine.release(conversations),
    score: (batch, options) => engine.score(batch, options),
    forwardBackward: (batch, objective, options) => engine.forwardBackward(batch, objective, options),
    optimStep: (options) => engine.optimStep(options),
    restartOptimizer: () => engine.restartOptimizer(),
    publish: () => engine.publish(),
    freeze: (rate) => engine.freeze(rate),
    ...(engine.weights && { weights: () => engine.weights!() }),
    ...(engine.adopt && { adopt: (weights) => engine.adopt!(weights) }),
    save: (folder) => engine.save(folder),
    load: (folder, options) => engine.load(folder, options),
    close: () => engine.close(),
    ...own,
  };
}

/** The same engine, telling of all tokens that it reads, samples, scores and trains on, as soon as it has. */
export function countingTokens(engine: Engine, count: (tokens: number) => void): Engine {
  return delegateTo(engine, {
    sample: async (request) => {
      const result = await engine.sample(request);
      count(request.append.length + result.ids.length);
      return result;
    },
    score: async (batch, options) => {
      const scores = await engine.score(batch, options);
      count(batch.rows.reduce((sum, { ids_T }) => sum + ids_T.length, 0));
      return scores;
    },
    forwardBackward: async (batch, objective, options) => {
      const result = await engine.forwardBackward(batch, objective, options);
      count(result.tokens);
      return result;
    },
  });
}

/** The same engine, telling how many tokens it is asked to score. */
export function countingScores(engine: Engine, count: (tokens: number) => void): Engine {
  return delegateTo(engine, {
    score: (batch, options) => {
      count(batch.rows.reduce((sum, { ids_T }) => sum + ids_T.length, 0));
      return engine.score(batch, options);
    },
  });
}
