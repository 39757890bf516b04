/** An engine without weights. */

import type { Engine, TokenBatch } from '../engine/engine.ts';

export interface FakeEngine extends Engine {
  /** The batch of every optimizer step. */
  readonly learned: TokenBatch[];
}

/**
 * An engine that computes nothing, for tests of what asks one: it keeps the rows that it would learn from, and raises where it
 * is asked for samples or scores that `parts` does not give.
 *
 * @example
 * const engine = fakeEngine({ score: async ({ rows }) => ({ logprobs: rows.map(({ ids_T }) => new Float32Array(ids_T.length)) }) });
 */
export function fakeEngine(parts: Partial<Engine> = {}): FakeEngine {
  const learned: TokenBatch[] = [];
  const unasked = (): never => {
    throw new Error('the test did not expect this call');
  };
  return {
    learned,
    version: 1,
    capabilities: {
      vocabulary: 100,
      contextLength: 100,
      valueHead: false,
      entropies: false,
      temperatures: true,
      customObjectives: true,
      choices: false,
      schemas: false,
      deterministic: true,
    },
    sample: unasked,
    score: unasked,
    forwardBackward: async (batch) => {
      learned.push(batch);
      const tokens = batch.rows.reduce((sum, { ids_T }) => sum + ids_T.length, 0);
      return { loss: 0, metrics: {}, tokens, paddedTokens: tokens };
    },
    optimStep: async () => ({ gradientNorm: 1, applied: true }),
    restartOptimizer: async () => {},
    publish: async () => 2,
    release: () => {},
    freeze: async () => {},
    save: async () => {},
    load: async () => {},
    close: async () => {},
    ...parts,
  };
}
