/** How fast the engine of a run is on this machine: a few tokens are read and sampled, and one small micro-batch is learned from. */

import type { Engine } from '../../engine/engine.ts';
import { batchOf } from '../../engine/token-batch.ts';
import { crossEntropy } from '../../objective/imitation/cross-entropy.ts';

export interface Timing {
  /** Seconds to read a token of a prompt. */
  readonly readToken: number;
  /** Seconds to sample the next token of one row, and of each further row beside it. */
  readonly decodeStep: number;
  readonly decodeRow: number;
  /** Seconds to learn from a token, forward and backward. */
  readonly learnToken: number;
}

const PROMPT = 48;
const ROWS = 8;
const SAMPLED = 6;
const LEARNED = { rows: 4, tokens: 64 } as const;

/** Leaves the engine as it was: what it learns here is thrown away before a weight moves. */
export async function timeEngine(engine: Engine, signal: AbortSignal): Promise<Timing> {
  const { vocabulary, contextLength } = engine.capabilities;
  const prompt = Math.min(PROMPT, contextLength - SAMPLED - 2);
  const length = Math.min(LEARNED.tokens, contextLength);
  const ids = (length: number): Int32Array =>
    Int32Array.from({ length }, (_, index) => (7919 * (index + 1)) % vocabulary);
  const sample = async (name: string, rows: number, tokens: number): Promise<number> => {
    signal.throwIfAborted();
    const names = Array.from({ length: rows }, (_, row) => `estimate/${name}/${row}`);
    const began = performance.now();
    await Promise.all(
      names.map((conversation) =>
        engine.sample({
          conversation,
          keep: 0,
          append: ids(prompt),
          sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: tokens },
          stopIds: [],
          seed: conversation,
        }),
      ),
    );
    const seconds = (performance.now() - began) / 1000;
    engine.release(names);
    return seconds;
  };
  // The first call makes what the later ones use.
  await sample('first', 1, 2);
  const readOne = await sample('read', 1, 1);
  const one = await sample('one', 1, 1 + SAMPLED);
  const readMany = await sample('read-many', ROWS, 1);
  const many = await sample('many', ROWS, 1 + SAMPLED);
  const decodeStep = Math.max(1e-6, (one - readOne) / SAMPLED);
  const decodeMany = Math.max(decodeStep, (many - readMany) / SAMPLED);
  const learn = async (): Promise<number> => {
    signal.throwIfAborted();
    const rows = Array.from({ length: LEARNED.rows }, () => ({
      ids_T: ids(length),
      channels: { weight: new Float32Array(length).fill(1e-3, length >> 1) },
    }));
    // Rows that differ in their first token share nothing, so that each token is computed.
    for (const [row, { ids_T }] of rows.entries()) ids_T[0] = row;
    const began = performance.now();
    const { paddedTokens } = await engine.forwardBackward(batchOf(rows), crossEntropy(), { temperature: 1 });
    return (performance.now() - began) / 1000 / paddedTokens;
  };
  await learn();
  const learnToken = await learn();
  // A rate of 0 clears the gradient and moves nothing.
  const still = { learningRate: 0, beta1: 0.9, beta2: 0.98, epsilon: 1e-8, weightDecay: 0, clipNorm: 1 };
  await engine.optimStep(still);
  await engine.restartOptimizer();
  return {
    readToken: readMany / (ROWS * prompt),
    decodeStep,
    decodeRow: (decodeMany - decodeStep) / (ROWS - 1),
    learnToken,
  };
}
