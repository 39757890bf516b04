/** Runs an objective on numbers, through the ONNX model it is written as. For tests only. */

import { Rng } from '../../core/rng.ts';
import { gradients } from '../../graph/gradient.ts';
import { Graph } from '../../graph/graph.ts';
import { type Feed, loadGraph } from '../../graph/node/loaded-graph.ts';
import { toOnnx } from '../../graph/onnx.ts';
import { gatherLogSoftmax } from '../../graph/operators/gather.ts';
import type { Tensor } from '../../graph/tensor.ts';
import type { Objective, StepStructure, StepView, TokenTensors } from '../contract/objective.ts';
import { policyMeans } from '../contract/policy-means.ts';
import { trainedMask } from '../policy-gradient/surrogate.ts';

export interface Evaluation {
  readonly loss: number;
  readonly metrics: Readonly<Record<string, number>>;
  /** By what the loss was differentiated by: `logprobs`, `entropies`, `values`, `valueLogits`, `head NAME`, or `logits`. */
  readonly gradients: Readonly<Record<string, readonly number[]>>;
}

/** One row of T tokens: numbers for log-probabilities, weight and channels by name, and what the objective needs. */
export type TokenNumbers = Readonly<Record<string, readonly number[]>>;

const isDifferentiable = (name: string): boolean =>
  ['logprobs', 'entropies', 'values', 'valueLogits'].includes(name) || name.startsWith('head ');

export interface StepNumbers extends StepStructure {
  /** Rows of equal length; heads are named `head NAME`, and several outputs of a token lie end to end. */
  readonly rows: readonly TokenNumbers[];
  /** Readings of heads of the present and the frozen model. */
  readonly heads?: Readonly<Record<string, readonly (readonly number[])[]>>;
  readonly frozenHeads?: Readonly<Record<string, readonly (readonly number[])[]>>;
  readonly step?: number;
  readonly seed?: string;
}

/** Loss, metrics and gradients; everything in `numbers` is fed as [1, T]. `weight` is 1 everywhere unless given. */
export async function evaluate(objective: Objective, numbers: TokenNumbers): Promise<Evaluation> {
  return evaluateStep(objective, { rows: [numbers] });
}

/** What `prepare` sees of these numbers. */
export function viewOf({
  rows,
  heads = {},
  frozenHeads = {},
  step = 0,
  seed = 'step',
  ...structure
}: StepNumbers): StepView {
  const floats = (lists: readonly (readonly number[])[]): Float32Array[] =>
    lists.map((list) => Float32Array.from(list));
  const readings = (all: NonNullable<StepNumbers['heads']>): Record<string, Float32Array[]> =>
    Object.fromEntries(Object.entries(all).map(([name, lists]) => [name, floats(lists)]));
  return {
    channels_B: rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, values]) => [name, Float32Array.from(values)])),
    ),
    logprobs_B_T: floats(rows.map(({ logprobs }) => logprobs ?? [])),
    heads: readings(heads),
    frozenHeads: readings(frozenHeads),
    sequences: structure.sequences ?? [],
    pairs: structure.pairs ?? [],
    step,
    rng: Rng.of(seed),
  };
}

/** The same over several rows, after `prepare`; gradients are those of all rows, end to end. */
export async function evaluateStep(objective: Objective, numbers: StepNumbers): Promise<Evaluation> {
  const rows = numbers.rows.map((row) => ({
    weight: new Array<number>(rowLength(row)).fill(1),
    ...row,
  })) as readonly TokenNumbers[];
  const counted = rows.flatMap(({ weight }) => weight!.filter((share) => share > 0)).length;
  const prepared = objective.prepare?.(viewOf({ ...numbers, rows }));
  const made = Object.entries(prepared?.channels ?? {});
  const all = rows.map((row, index) => ({
    ...row,
    ...Object.fromEntries(made.map(([name, values]) => [name, [...values[index]!]])),
  })) as readonly TokenNumbers[];

  const graph = new Graph();
  const shape = [rows.length, rowLength(rows[0]!)];
  const shapeOf = (name: string): number[] => {
    const outputs = (all[0]![name]?.length ?? shape[1]!) / shape[1]!;
    return outputs === 1 ? shape : [...shape, outputs];
  };
  const named = (name: string): Tensor =>
    isDifferentiable(name) ? graph.parameter(name, shapeOf(name)) : graph.input(name, shape);
  const tokens: TokenTensors = {
    logprobs: named('logprobs'),
    targets: graph.input('ids', shape, 'int64'),
    weight: named('weight'),
    counted: trainedMask({ weight: named('weight') }),
    channel: named,
    entropies: () => named('entropies'),
    values: () => named('values'),
    head: (name) => named(`head ${name}`),
    valueLogits: () => named('valueLogits'),
  };
  const names = Object.keys(all[0]!);
  const wrt = names.filter(isDifferentiable).map((name) => [name, named(name)] as const);
  const feeds: Record<string, Feed> = Object.fromEntries(
    names
      .filter((name) => name !== 'ids')
      .map((name) => [
        name,
        { data: Float32Array.from(all.flatMap((row) => row[name]!)), shape: shapeOf(name) },
      ]),
  );
  feeds.ids = {
    data: BigInt64Array.from(
      all.flatMap((row) => row.ids ?? new Array<number>(shape[1]!).fill(0)),
      (id) => BigInt(id),
    ),
    shape,
  };
  const result = await run(objective, tokens, wrt, feeds);
  return {
    ...result,
    loss: result.loss + (prepared?.loss ?? 0),
    metrics: {
      ...policyMeans(result.metrics, counted),
      ...prepared?.metrics,
    },
  };
}

const rowLength = (row: TokenNumbers): number =>
  (row.logprobs ?? row.weight ?? Object.values(row)[0]!).length;

/** The same with log-probabilities of `ids` under a policy whose parameters are its logits, [1, T, 3]. */
export async function evaluateToyPolicy(
  objective: Objective,
  logits: readonly number[],
  ids: readonly number[],
  channels: TokenNumbers,
): Promise<Evaluation> {
  const graph = new Graph();
  const length = ids.length;
  const parameter = graph.parameter('logits', [1, length, 3]);
  const input = (name: string): Tensor => graph.input(name, [1, length]);
  const targets = graph.input('ids', [1, length], 'int64');
  const tokens: TokenTensors = {
    logprobs: gatherLogSoftmax(parameter, targets),
    targets,
    weight: input('weight'),
    counted: trainedMask({ weight: input('weight') }),
    channel: input,
    entropies: () => input('entropies'),
    values: () => input('values'),
    head: (name) => input(`head ${name}`),
    valueLogits: () => input('valueLogits'),
  };
  const feeds: Record<string, Feed> = {
    logits: { data: Float32Array.from(logits), shape: [1, length, 3] },
    ids: { data: BigInt64Array.from(ids, (id) => BigInt(id)), shape: [1, length] },
  };
  for (const [name, data] of Object.entries(channels)) {
    feeds[name] = { data: Float32Array.from(data), shape: [1, length] };
  }
  return run(objective, tokens, [['logits', parameter]], feeds);
}

async function run(
  objective: Objective,
  tokens: TokenTensors,
  wrt: readonly (readonly [string, Tensor])[],
  feeds: Readonly<Record<string, Feed>>,
): Promise<Evaluation> {
  const { loss, metrics } = objective.build(tokens);
  const found = gradients(
    loss,
    wrt.map(([, tensor]) => tensor),
  );
  const outputs: Record<string, Tensor> = { loss, ...metrics };
  for (const [index, [name]] of wrt.entries()) outputs[`gradient ${name}`] = found[index]!;
  const session = await loadGraph(toOnnx(outputs), { threads: 1 });
  const results = await session.run(
    Object.fromEntries(session.inputNames.map((name) => [name, feeds[name]!])),
  );
  await session.close();
  return {
    loss: results.loss![0]!,
    metrics: Object.fromEntries(Object.keys(metrics).map((name) => [name, results[name]![0]!])),
    gradients: Object.fromEntries(wrt.map(([name]) => [name, [...results[`gradient ${name}`]!]])),
  };
}

/**
 * Central finite differences of the loss by every number called `name`, row by row, end to end: through `prepare` as
 * well, so that linearised objectives are held to the gradient of the real loss.
 */
export async function finiteDifferences(
  objective: Objective,
  numbers: StepNumbers,
  name = 'logprobs',
  width = 0.01,
): Promise<number[]> {
  const differences: number[] = [];
  for (const [index, row] of numbers.rows.entries()) {
    for (const position of row[name]!.keys()) {
      const moved = (by: number): Promise<Evaluation> => {
        const values = row[name]!.map((value, at) => (at === position ? value + by : value));
        const rows = numbers.rows.map((other, at) => (at === index ? { ...row, [name]: values } : other));
        return evaluateStep(objective, { ...numbers, rows });
      };
      differences.push(((await moved(width)).loss - (await moved(-width)).loss) / (2 * width));
    }
  }
  return differences;
}
