/** Runs an objective on numbers, through the ONNX model it is written as. For tests only. */

import { Rng } from '../../core/rng.ts';
import { gradients } from '../../graph/gradient.ts';
import { Graph } from '../../graph/graph.ts';
import { type Feed, loadGraph } from '../../graph/node/loaded-graph.ts';
import { toOnnx } from '../../graph/onnx.ts';
import { gatherEach, gatherLogSoftmax } from '../../graph/operators/gather.ts';
import { logSoftmax } from '../../graph/operators/reduce.ts';
import type { Tensor } from '../../graph/tensor.ts';
import type { Objective, StepStructure, StepView, TokenTensors } from '../contract/objective.ts';
import { countedTargets, policyMeans } from '../contract/policy-means.ts';
import { segmentsOf } from '../contract/target-channels.ts';
import { trainedMask } from '../policy-gradient/surrogate.ts';

export interface Evaluation {
  readonly loss: number;
  readonly metrics: Readonly<Record<string, number>>;
  /** By what the loss was differentiated by: `logprobs`, `logprobsOf`, `entropies`, `values`, `valueLogits`, `head NAME`, or `logits`. */
  readonly gradients: Readonly<Record<string, readonly number[]>>;
}

/** One row of T tokens: numbers for log-probabilities, weight and channels by name, and what the objective needs. */
export type TokenNumbers = Readonly<Record<string, readonly number[]>>;

const isDifferentiable = (name: string): boolean =>
  ['logprobs', 'logprobsOf', 'entropies', 'values', 'valueLogits'].includes(name) || name.startsWith('head ');

export interface StepNumbers extends StepStructure {
  /** Rows of equal length; heads are named `head NAME`, and several outputs of a token lie end to end. */
  readonly rows: readonly TokenNumbers[];
  /** Readings of heads of the present and the frozen model. */
  readonly heads?: Readonly<Record<string, readonly (readonly number[])[]>>;
  readonly frozenHeads?: Readonly<Record<string, readonly (readonly number[])[]>>;
  readonly step?: number;
  readonly seed?: string;
}

/** Loss, metrics and gradients; every token is a target. `weight` is 1 everywhere unless given. */
export async function evaluate(objective: Objective, numbers: TokenNumbers): Promise<Evaluation> {
  return evaluateStep(objective, { rows: [numbers] });
}

/** What `prepare` sees of these numbers: every token of every row is a target. */
export function viewOf({
  rows,
  heads = {},
  frozenHeads = {},
  step = 0,
  seed = 'step',
  ...structure
}: StepNumbers): StepView {
  const readings = (all: NonNullable<StepNumbers['heads']>): Record<string, Float32Array> =>
    Object.fromEntries(Object.entries(all).map(([name, lists]) => [name, Float32Array.from(lists.flat())]));
  const names = Object.keys(rows[0] ?? {});
  return {
    rows: rows.length,
    row_N: Int32Array.from(rows.flatMap((row, index) => new Array<number>(rowLength(row)).fill(index))),
    position_N: Int32Array.from(rows.flatMap((row) => [...new Array(rowLength(row)).keys()])),
    turn_N: Int32Array.from(
      rows.flatMap((row) => row.turns?.map((turn) => turn - 1) ?? new Array<number>(rowLength(row)).fill(-1)),
    ),
    channels: Object.fromEntries(names.map((name) => [name, flat(rows, name)])),
    logprobs_N: Float32Array.from(rows.flatMap(({ logprobs }) => logprobs ?? [])),
    heads: readings(heads),
    frozenHeads: readings(frozenHeads),
    sequences: structure.sequences ?? [],
    pairs: structure.pairs ?? [],
    step,
    rng: Rng.of(seed),
  };
}

const flat = (rows: readonly TokenNumbers[], name: string): Float32Array =>
  Float32Array.from(rows.flatMap((row) => row[name] ?? []));

/** The same over several rows, after `prepare`; gradients are those of all rows, end to end. */
export async function evaluateStep(objective: Objective, numbers: StepNumbers): Promise<Evaluation> {
  const rows = numbers.rows.map((row) => ({
    weight: new Array<number>(rowLength(row)).fill(1),
    ...row,
  })) as readonly TokenNumbers[];
  const view = viewOf({ ...numbers, rows });
  const prepared = objective.prepare?.(view);
  const given: Readonly<Record<string, Float32Array>> = { ...view.channels, ...prepared?.channels };
  const N = view.row_N.length;
  const shapeOf = (name: string): number[] => {
    const outputs = (given[name]?.length ?? N) / N;
    return outputs === 1 ? [N] : [N, outputs];
  };
  const graph = new Graph();
  const named = (name: string): Tensor =>
    isDifferentiable(name) ? graph.parameter(name, shapeOf(name)) : graph.input(name, shapeOf(name));
  const names = Object.keys(given);
  const wrt = names.filter(isDifferentiable).map((name) => [name, named(name)] as const);
  const feeds: Record<string, Feed> = Object.fromEntries(
    names
      .filter((name) => name !== 'ids')
      .map((name) => [name, { data: given[name]!, shape: shapeOf(name) }]),
  );
  const ids = rows.flatMap((row) => row.ids ?? new Array<number>(rowLength(row)).fill(0));
  feeds.ids = { data: BigInt64Array.from(ids, BigInt), shape: [N] };
  for (const level of ['row', 'turn'] as const)
    feeds[`segments ${level}`] = { data: segmentsOf(view, level), shape: [N] };
  const result = await run(objective, tokensOf(graph, named, [N]), wrt, feeds);
  return {
    ...result,
    loss: result.loss + (prepared?.loss ?? 0),
    metrics: {
      ...policyMeans(result.metrics, countedTargets(view)),
      ...prepared?.metrics,
    },
  };
}

function tokensOf(graph: Graph, named: (name: string) => Tensor, shape: readonly number[]): TokenTensors {
  return {
    logprobs: named('logprobs'),
    targets: graph.input('ids', shape, 'int64'),
    weight: named('weight'),
    counted: trainedMask({ weight: named('weight') }),
    channel: named,
    segments: (level) => graph.input(`segments ${level}`, shape, 'int64'),
    logprobsOf: () => named('logprobsOf'),
    entropies: () => named('entropies'),
    values: () => named('values'),
    head: (name) => named(`head ${name}`),
    valueLogits: () => named('valueLogits'),
  };
}

const rowLength = (row: TokenNumbers): number =>
  (row.logprobs ?? row.weight ?? Object.values(row)[0]!).length;

/** The same with log-probabilities of `ids` under a policy whose parameters are its logits, [T, 3]. */
export async function evaluateToyPolicy(
  objective: Objective,
  logits: readonly number[],
  ids: readonly number[],
  channels: TokenNumbers,
): Promise<Evaluation> {
  const graph = new Graph();
  const length = ids.length;
  const parameter = graph.parameter('logits', [length, 3]);
  const numbersIn = (name: string): number => (channels[name]?.length ?? length) / length;
  const shapeOf = (name: string): number[] => (numbersIn(name) === 1 ? [length] : [length, numbersIn(name)]);
  const input = (name: string): Tensor => graph.input(name, shapeOf(name));
  const tokens = tokensOf(graph, input, [length]);
  const logprobs = gatherLogSoftmax(parameter, tokens.targets);
  const feeds: Record<string, Feed> = {
    logits: { data: Float32Array.from(logits), shape: [length, 3] },
    ids: { data: BigInt64Array.from(ids, (id) => BigInt(id)), shape: [length] },
  };
  for (const [name, data] of Object.entries(channels)) {
    feeds[name] = { data: Float32Array.from(data), shape: shapeOf(name) };
  }
  const rows = graph.constant(
    BigInt64Array.from({ length }, (_, row) => BigInt(row)),
    [length],
  );
  const logprobsOf = (others: Tensor): Tensor => gatherEach(logSoftmax(parameter), rows, others);
  return run(objective, { ...tokens, logprobs, logprobsOf }, [['logits', parameter]], feeds);
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
