/** Checkpoints with the numbers that transformers and peft compute for them, and how close ours must come. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { gradients } from '../../../graph/gradient.ts';
import { Graph } from '../../../graph/graph.ts';
import { type Feed, loadGraph } from '../../../graph/node/loaded-graph.ts';
import { toOnnx } from '../../../graph/onnx.ts';
import { divide, multiply, negate } from '../../../graph/operators/elementwise.ts';
import { gatherLogSoftmax } from '../../../graph/operators/gather.ts';
import { logSoftmax, sum } from '../../../graph/operators/reduce.ts';
import { exp } from '../../../graph/operators/unary.ts';
import type { Weights } from '../../../model/checkpoint/safetensors.ts';
import type { DecoderShape } from '../../../model/decoder/decoder.ts';
import { causalMask, forward } from '../../../model/decoder/forward.ts';
import type { LoraShape } from '../../../model/decoder/lora.ts';
import type { TokenBatch } from '../../engine.ts';
import { batchOf } from '../../token-batch.ts';

/** `TURNWISE_PARITY` names another folder of families, such as one made by `tools/parity/make_checkpoints.py`. */
export const parityRoot: string = process.env.TURNWISE_PARITY ?? join(process.cwd(), 'tests/hf-parity');

export interface ExpectedLogits {
  readonly row0: readonly (readonly number[])[];
  readonly columns: readonly number[];
  readonly rows: readonly {
    readonly row: number;
    readonly at_columns: readonly (readonly number[])[];
    readonly last: readonly number[];
  }[];
  readonly l2_per_row: readonly number[];
}

export interface ExpectedScores {
  readonly logits: ExpectedLogits;
  readonly logprobs: readonly (readonly number[])[];
  readonly entropy: readonly (readonly number[])[];
  readonly loss: number;
}

export type ExpectedGradients = Readonly<
  Record<
    string,
    {
      readonly shape: readonly number[];
      readonly norm: number;
      readonly index: readonly number[];
      readonly value: readonly number[];
    }
  >
>;

export interface ExpectedSteps {
  readonly steps: readonly { readonly loss: number; readonly grad_norm_before_clip: number }[];
  readonly loss_after: number;
  readonly logits_after: ExpectedLogits;
  readonly parameter_norms_after: Readonly<Record<string, number>>;
}

export interface Expected extends ExpectedScores {
  readonly batch: {
    readonly lengths: readonly number[];
    readonly input_ids: readonly (readonly number[])[];
    readonly loss_mask: readonly (readonly number[])[];
  };
  readonly gradients: ExpectedGradients;
  readonly greedy: {
    readonly prompt: readonly number[];
    readonly ids: readonly number[];
    readonly logprobs: readonly number[];
  };
  readonly adamw_options: {
    readonly lr: number;
    readonly betas: readonly [number, number];
    readonly eps: number;
    readonly weight_decay: number;
    readonly clip_norm: number;
  };
  readonly adamw: ExpectedSteps;
  readonly stored?: Readonly<Record<string, ExpectedScores>>;
  readonly adapter: ExpectedScores & {
    readonly rank: number;
    readonly alpha: number;
    readonly merged: ExpectedScores;
    readonly gradients: ExpectedGradients;
    readonly adamw: ExpectedSteps;
  };
}

export interface Family {
  readonly name: string;
  readonly folder: string;
  readonly expected: Expected;
  /** Folders with the weights in f32, and folders with rounded weights, by type. */
  readonly exact: readonly string[];
  readonly stored: readonly string[];
}

export function families(): Family[] {
  return readdirSync(parityRoot)
    .filter((name) => existsSync(join(parityRoot, name, 'expected.json')) && !name.startsWith('tokenizer'))
    .map((name) => {
      const folder = join(parityRoot, name);
      const present = (names: readonly string[]): string[] =>
        names.filter((variant) => existsSync(join(folder, variant)));
      return {
        name,
        folder,
        expected: JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as Expected,
        exact: present(['f32', 'sharded']),
        stored: present(['bf16', 'f16']),
      };
    });
}

export interface Pass {
  readonly logits: Float32Array;
  readonly logprobs: Float32Array;
  readonly entropies: Float32Array;
  readonly loss: number;
  readonly gradients: ReadonlyMap<string, Float32Array>;
}

/** Everything that `expected.json` speaks of, from one graph over the padded batch. */
export async function modelPass(
  shape: DecoderShape,
  weights: Weights,
  { batch }: Expected,
  options: { readonly adapter?: LoraShape; readonly wrt?: readonly string[] } = {},
): Promise<Pass> {
  const graph = new Graph();
  const ids = graph.input('ids', ['B', '2*U'], 'int64');
  const outputs = forward(
    graph,
    shape,
    { ids, causalMask: graph.input('mask', ['U', '2*U']) },
    options.adapter,
  );
  const logits = outputs.logits();
  const logprobs = gatherLogSoftmax(logits, graph.input('targets', ['B', '2*U'], 'int64'));
  const distribution = logSoftmax(logits);
  const entropies = negate(sum(multiply(exp(distribution), distribution), [-1]));
  const weight = graph.input('weight', ['B', '2*U']);
  const loss = negate(divide(sum(multiply(weight, logprobs)), sum(weight)));
  const wrt = options.wrt ?? [];
  const found = gradients(
    loss,
    wrt.map((name) => graph.parameter(name, weights.get(name)!.shape)),
  );
  const named = Object.fromEntries(wrt.map((name, index) => [`gradient.${name}`, found[index]!]));
  const session = await loadGraph(toOnnx({ logits, logprobs, entropies, loss, ...named }), {
    threads: 1,
  });
  const [B, width] = [batch.input_ids.length, batch.input_ids[0]!.length];
  const T = width + (width % 2);
  const padded = (row: readonly number[], from: number): number[] =>
    Array.from({ length: T }, (_, t) => row[t + from] ?? 0);
  const inputs = batch.input_ids.flatMap((row) => padded(row, 0));
  const next = batch.input_ids.flatMap((row) => padded(row, 1));
  const counts = batch.loss_mask.flatMap((row) => padded(row, 1));
  const trimmed = (values: Float32Array): Float32Array => {
    const size = values.length / (B * T);
    return values.filter((_, index) => Math.floor(index / size) % T < width);
  };
  const given: Record<string, Feed> = {
    ids: { data: BigInt64Array.from(inputs, BigInt), shape: [B, T] },
    targets: { data: BigInt64Array.from(next, BigInt), shape: [B, T] },
    weight: { data: Float32Array.from(counts), shape: [B, T] },
    mask: causalMask(T),
  };
  const feeds = Object.fromEntries(
    session.inputNames.map((name) => [name, given[name] ?? weights.get(name)!]),
  );
  const results = await session.run(feeds);
  await session.close();
  return {
    logits: trimmed(results.logits!),
    logprobs: trimmed(results.logprobs!),
    entropies: trimmed(results.entropies!),
    loss: results.loss![0]!,
    gradients: new Map(wrt.map((name) => [name, results[`gradient.${name}`]!])),
  };
}

/** Fails where the largest difference of two lists is above `tolerance`. */
export function expectClose(
  what: string,
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
  tolerance: number,
): void {
  expect(actual.length, `${what}: length`).toBe(expected.length);
  let worst = 0;
  for (let i = 0; i < expected.length; i++) {
    const difference = Math.abs(actual[i]! - expected[i]!);
    if (!(difference <= worst)) worst = difference;
  }
  expect(worst, what).toBeLessThanOrEqual(tolerance);
}

export function expectLogits(
  actual: Float32Array,
  logits: ExpectedLogits,
  { batch }: Expected,
  tolerance: number,
): void {
  const V = logits.row0[0]!.length;
  const T = batch.input_ids[0]!.length;
  const at = (row: number, token: number): Float32Array =>
    actual.subarray((row * T + token) * V, (row * T + token + 1) * V);
  for (const [token, values] of logits.row0.entries())
    expectClose(`logits of row 0, token ${token}`, at(0, token), values, tolerance);
  for (const { row, at_columns: columns, last } of logits.rows) {
    for (const [token, values] of columns.entries()) {
      const found = at(row, token);
      const picked = logits.columns.map((id) => found[id]!);
      expectClose(`logits of row ${row}, token ${token}`, picked, values, tolerance);
    }
    expectClose(`last logits of row ${row}`, at(row, batch.lengths[row]! - 1), last, tolerance);
  }
  for (const [row, norm] of logits.l2_per_row.entries()) {
    let squares = 0;
    for (let token = 0; token < batch.lengths[row]!; token++)
      for (const value of at(row, token)) squares += value * value;
    expect(Math.abs(Math.sqrt(squares) / norm - 1), `size of the logits of row ${row}`).toBeLessThan(
      Math.max(1e-5, tolerance / 10),
    );
  }
}

/** Logits within 1e-4, log-probabilities and the loss within 1e-5, entropies within 1e-4. */
export function expectScores(actual: Pass, expected: ExpectedScores, all: Expected): void {
  expectLogits(actual.logits, expected.logits, all, 1e-4);
  const T = all.batch.input_ids[0]!.length;
  for (const [row, values] of expected.logprobs.entries())
    expectClose(
      `log-probabilities of row ${row}`,
      actual.logprobs.subarray(row * T, row * T + values.length),
      values,
      1e-5,
    );
  for (const [row, values] of expected.entropy.entries())
    expectClose(
      `entropies of row ${row}`,
      actual.entropies.subarray(row * T, row * T + values.length),
      values,
      1e-5,
    );
  expect(Math.abs(actual.loss - expected.loss), 'loss').toBeLessThan(1e-5);
}

/** Norms and values within 1e-3, relative to the norm of the tensor spread over its values or to the value itself. */
export function expectGradients(
  actual: ReadonlyMap<string, Float32Array>,
  expected: ExpectedGradients,
): void {
  expect([...actual.keys()].sort()).toEqual(Object.keys(expected).sort());
  for (const [name, { norm, index, value }] of Object.entries(expected)) {
    const gradient = actual.get(name)!;
    const found = Math.sqrt(gradient.reduce((total, g) => total + g * g, 0));
    expect(Math.abs(found / norm - 1), `norm of the gradient of ${name}`).toBeLessThan(1e-3);
    const typical = norm / Math.sqrt(gradient.length);
    for (const [i, position] of index.entries()) {
      const error = Math.abs(gradient[position]! - value[i]!);
      expect(error, `gradient of ${name} at ${position}`).toBeLessThan(
        1e-3 * Math.max(typical, Math.abs(value[i]!)),
      );
    }
  }
}

/** The batch as an engine takes it, with weights that make the loss of `expected.json`. */
export function tokenBatch({ batch }: Expected): TokenBatch {
  const trained = batch.loss_mask.flat().reduce((total, mask) => total + mask, 0);
  return batchOf(
    batch.lengths.map((length, row) => ({
      ids_T: Int32Array.from(batch.input_ids[row]!.slice(0, length)),
      channels: { weight: Float32Array.from(batch.loss_mask[row]!.slice(0, length), (m) => m / trained) },
    })),
  );
}
