/** An engine without weights, for tests: what it is asked is up to them, and the rows that it would learn from are kept. */

import type { Engine, TokenRow } from './engine.ts';

export interface FakeEngine extends Engine {
  /** The rows of every optimizer step. */
  readonly learned: (readonly TokenRow[])[];
}

export function fakeEngine(parts: Partial<Engine> = {}): FakeEngine {
  const learned: (readonly TokenRow[])[] = [];
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
      deterministic: true,
    },
    sample: unasked,
    score: unasked,
    forwardBackward: async ({ rows }) => {
      learned.push(rows);
      const tokens = rows.reduce((sum, { ids_T }) => sum + ids_T.length, 0);
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
