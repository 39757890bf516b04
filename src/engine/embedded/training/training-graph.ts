/** The graphs of training and scoring: a decoder over rows or trees, an objective or its ingredients, and the gradients. */

import { TurnwiseError } from '../../../core/errors.ts';
import { product } from '../../../graph/dimension.ts';
import { gradients } from '../../../graph/gradient.ts';
import { Graph, type Node } from '../../../graph/graph.ts';
import { reachable, toOnnx } from '../../../graph/onnx.ts';
import { add, multiply, negate } from '../../../graph/operators/elementwise.ts';
import { gatherEach, gatherLast, gatherLogSoftmax, gatherRows } from '../../../graph/operators/gather.ts';
import { cast } from '../../../graph/operators/logic.ts';
import { logSoftmax, sum } from '../../../graph/operators/reduce.ts';
import { reshape } from '../../../graph/operators/shape.ts';
import { top } from '../../../graph/operators/top.ts';
import { exp } from '../../../graph/operators/unary.ts';
import type { Tensor } from '../../../graph/tensor.ts';
import type { DecoderShape, HeadKind } from '../../../model/decoder/decoder.ts';
import { type DecoderOutputs, forward } from '../../../model/decoder/forward.ts';
import type { LoraShape } from '../../../model/decoder/lora.ts';
import type { Objective, TokenTensors } from '../../../objective/contract/objective.ts';
import { trainedMask } from '../../../objective/policy-gradient/surrogate.ts';
import type { PackedBatch } from './packed-batch.ts';
import { isIn, isTrained } from './parameter-groups.ts';

/** A graph as bytes, ready to be handed to the thread that runs it. */
export interface TrainingProgram {
  readonly key: string;
  readonly bytes: Uint8Array;
  readonly metrics: readonly string[];
}

/** How the tokens of a batch are laid out, and where outputs are computed. */
export interface Layout {
  /** Rows that begin alike are one tree. */
  readonly trees: boolean;
  /** Outputs are computed for the targets only, instead of for every token. */
  readonly gathered: boolean;
  /** Targets are normalised over sets of ids. */
  readonly restricted: boolean;
}

/**
 * The layout of a batch. Outputs are computed for every token where rows are read one by one and all weights learn: a sum over
 * the tokens of the output layer is then the same, bit for bit, whichever of them are targets.
 */
export function layoutOf(
  { sharing, allowed }: Pick<PackedBatch, 'sharing' | 'allowed'>,
  lora: LoraShape | undefined,
): Layout {
  const restricted = allowed !== undefined;
  return { trees: sharing, gathered: sharing || restricted || lora !== undefined, restricted };
}

/** Names one objective at one temperature and layout. */
export function programKey(objective: Objective, temperature: number, layout: Layout): string {
  const { trees, gathered, restricted } = layout;
  return JSON.stringify([objective.key, temperature, trees, gathered, restricted]);
}

/** Quantities of next-token prediction where they are computed: P places, or every token [B, T]. */
interface Places {
  readonly outputs: DecoderOutputs;
  /** The token that each is about, int64. */
  readonly predicted: Tensor;
  /** Logits at the temperature of sampling, of forbidden tokens far below all others. */
  readonly scaled: Tensor;
  /** Numbers of places as numbers of the N targets. */
  at(x: Tensor): Tensor;
  /** Of numbers for each token of the vocabulary at each place, those of ids [N, k]: [N, k]. */
  among(x: Tensor, ids: Tensor): Tensor;
}

function placesOf(
  graph: Graph,
  shape: DecoderShape,
  temperature: number,
  { trees, gathered, restricted }: Layout,
  lora: LoraShape | undefined,
): Places {
  const T = trees ? 'T' : '2*U';
  const ids = graph.input('ids', ['B', T], 'int64');
  const reading = trees
    ? {
        treeMask: graph.input('treeMask', ['B', T, T]),
        positions: graph.input('positions', [product(['B', T]), 1], 'int64'),
      }
    : { causalMask: graph.input('causalMask', ['U', '2*U']) };
  const source = gathered && { source: graph.input('source', ['P'], 'int64') };
  const outputs = forward(graph, shape, { ids, ...reading, ...source }, lora);
  const logits = outputs.logits();
  const warm = temperature === 1 ? logits : multiply(logits, 1 / temperature);
  const place = graph.input('place', ['N'], 'int64');
  const leading = gathered ? 1 : 2;
  return {
    outputs,
    predicted: gathered ? graph.input('predicted', ['P'], 'int64') : graph.input('next', ['B', T], 'int64'),
    scaled: restricted
      ? add(
          warm,
          gatherRows(
            graph.input('allowedSets', ['A', shape.vocabulary]),
            graph.input('allowed', ['P'], 'int64'),
          ),
        )
      : warm,
    at: (x) => {
      const rest = x.shape.slice(leading);
      const table = reshape(x, [product(x.shape.slice(0, leading)), product(rest)]);
      return reshape(gatherRows(table, place), ['N', ...rest]);
    },
    among: (x, others) =>
      gatherEach(reshape(x, [product(x.shape.slice(0, leading)), shape.vocabulary]), place, others),
  };
}

/** What an objective reads, [N]: target n is predicted by what comes before it. */
function tokenTensors(graph: Graph, shape: DecoderShape, places: Places): TokenTensors {
  const { outputs, predicted, scaled, at, among } = places;
  const weight = graph.input('channel.weight', ['N']);
  return {
    logprobs: at(gatherLogSoftmax(scaled, predicted)),
    targets: graph.input('targets', ['N'], 'int64'),
    weight,
    counted: trainedMask({ weight }),
    channel: (name, numbers) =>
      graph.input(`channel.${name}`, numbers === undefined ? ['N'] : ['N', numbers]),
    segments: (level) => graph.input(`segments.${level}`, ['N'], 'int64'),
    logprobsOf: (ids) => among(logSoftmax(scaled), ids),
    entropies: () => at(entropiesOf(scaled)),
    values: () => {
      if (shape.valueHead) return at(outputs.values());
      throw new TurnwiseError('engine-unsupported', {
        what: 'The objective needs values, and the model has no value head',
        next: 'Create the engine with a value head, or use an objective without a critic',
      });
    },
    valueLogits: () => {
      if (typeof shape.valueHead === 'object') return at(outputs.valueLogits());
      throw new TurnwiseError('engine-unsupported', {
        what: 'The objective needs a distribution over values, and the model has no value head with bins',
        next: 'Create the engine with a value head of { count, low, high }, or use a loss on scalar values',
      });
    },
    head: (name) => {
      headKind(shape, name);
      return at(outputs.extra(name));
    },
  };
}

function entropiesOf(scaled: Tensor): Tensor {
  const distribution = logSoftmax(scaled);
  return negate(sum(multiply(exp(distribution), distribution), [-1]));
}

function headKind({ extraHeads = {} }: DecoderShape, name: string): HeadKind {
  const kind = extraHeads[name];
  if (kind !== undefined) return kind;
  throw new TurnwiseError('engine-unsupported', {
    what: 'The objective needs a head that the model does not have',
    seen: name,
    allowed: Object.keys(extraHeads).join(', ') || 'none: the model has no extra heads',
    next: 'Create the engine with this head among `extraHeads`',
  });
}

/** One number per target of an extra head, [N]. */
function headReading({ outputs, predicted, at }: Places, shape: DecoderShape, name: string): Tensor {
  const isScalar = headKind(shape, name) === 'scalar';
  const output = outputs.extra(name);
  return at(isScalar ? output : gatherLast(output, predicted));
}

/**
 * The objective's loss, metrics and gradients at every parameter that it trains: `gradient.NAME`. What the
 * embedding gets through its rows is left as `rows.NAME`, [B, T, width], to be added at the rows of `ids` outside: the
 * runtime's own scatter takes one thread and 64-bit indices of every element.
 */
export function buildTrainingProgram(
  shape: DecoderShape,
  objective: Objective,
  temperature: number,
  layout: Layout,
  lora?: LoraShape,
): TrainingProgram {
  const graph = new Graph();
  const places = placesOf(graph, shape, temperature, layout, lora);
  const { loss, metrics } = objective.build(tokenTensors(graph, shape, places));
  const nodes = reachable([loss]);
  const nameOf = (parameter: Tensor): string => graph.node(parameter).attributes.name as string;
  const trained = ({ operator, attributes }: Node): boolean =>
    operator.name === 'parameter' &&
    isTrained(attributes.name as string, lora) &&
    isIn(objective.trains, attributes.name as string);
  const lookups = nodes.filter(
    ({ operator, inputs }) => operator.name === 'gatherRows' && trained(inputs[0]!),
  );
  const parameters = nodes.filter((node) => trained(node) && isReadElsewhere(node, nodes, lookups));
  const outputs: Record<string, Tensor> = { loss };
  for (const [name, metric] of Object.entries(metrics)) outputs[`metric.${name}`] = metric;
  const found = gradients(loss, [...parameters, ...lookups], lookups);
  for (const [index, parameter] of parameters.entries())
    outputs[`gradient.${nameOf(parameter)}`] = found[index]!;
  for (const [index, lookup] of lookups.entries())
    outputs[`rows.${nameOf(lookup.inputs[0]!)}`] = found[parameters.length + index]!;
  const key = programKey(objective, temperature, layout);
  return { key, bytes: toOnnx(outputs), metrics: Object.keys(metrics) };
}

function isReadElsewhere(parameter: Node, nodes: readonly Node[], lookups: readonly Node[]): boolean {
  return nodes.some((node) => node.inputs.includes(parameter) && !lookups.includes(node));
}

export interface ScoreOptions {
  readonly temperature: number;
  readonly entropies?: boolean;
  readonly values?: boolean;
  readonly heads?: readonly string[];
  readonly top?: number;
}

/** Names of what a score program computes. */
export function scoreOutputs({ entropies, values, heads = [], top: count }: ScoreOptions): string[] {
  return [
    'logprobs',
    ...(count ? ['top.ids', 'top.logprobs'] : []),
    ...(entropies ? ['entropies'] : []),
    ...(values ? ['values'] : []),
    ...heads.map((name) => `head.${name}`),
  ];
}

/** Numbers for each target in an output of a score program. */
export const numbersOf = (output: string, { top: count = 1 }: Pick<ScoreOptions, 'top'>): number =>
  output.startsWith('top.') ? count : 1;

/** Outputs `logprobs`, and `entropies`, `values` and `head.NAME` where asked for, [N]; `top.ids` and `top.logprobs`, [N, k]. */
export function buildScoreProgram(
  shape: DecoderShape,
  options: ScoreOptions,
  layout: Layout,
  lora?: LoraShape,
): Uint8Array {
  const places = placesOf(new Graph(), shape, options.temperature, layout, lora);
  const { outputs, predicted, scaled, at } = places;
  const likeliest = options.top ? top(logSoftmax(scaled), options.top) : undefined;
  return toOnnx({
    logprobs: at(gatherLogSoftmax(scaled, predicted)),
    ...(likeliest && {
      'top.ids': at(cast(likeliest.ids, 'float32')),
      'top.logprobs': at(likeliest.values),
    }),
    ...(options.entropies && { entropies: at(entropiesOf(scaled)) }),
    ...(options.values && { values: at(outputs.values()) }),
    ...Object.fromEntries(
      (options.heads ?? []).map((name) => [`head.${name}`, headReading(places, shape, name)]),
    ),
  });
}
