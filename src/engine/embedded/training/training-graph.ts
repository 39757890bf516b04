/** The graphs of training and scoring: a decoder over whole rows, an objective or its ingredients, and the gradients. */

import { TurnwiseError } from '../../../core/errors.ts';
import { gradients } from '../../../graph/gradient.ts';
import { Graph, type Node } from '../../../graph/graph.ts';
import { reachable, toOnnx } from '../../../graph/onnx.ts';
import { multiply, negate } from '../../../graph/operators/elementwise.ts';
import { gatherLast, gatherLogSoftmax } from '../../../graph/operators/gather.ts';
import { logSoftmax, sum } from '../../../graph/operators/reduce.ts';
import { exp } from '../../../graph/operators/unary.ts';
import type { Tensor } from '../../../graph/tensor.ts';
import type { DecoderShape, HeadKind } from '../../../model/decoder/decoder.ts';
import { forward } from '../../../model/decoder/forward.ts';
import type { LoraShape } from '../../../model/decoder/lora.ts';
import type { Objective, TokenTensors } from '../../../objective/contract/objective.ts';
import { trainedMask } from '../../../objective/policy-gradient/surrogate.ts';
import { isIn, isTrained } from './parameter-groups.ts';

/** A graph as bytes, ready to be handed to the thread that runs it. */
export interface TrainingProgram {
  readonly key: string;
  readonly bytes: Uint8Array;
  readonly metrics: readonly string[];
}

/** Names one objective at one temperature. */
export function programKey(objective: Objective, temperature: number): string {
  return JSON.stringify([objective.key, temperature]);
}

/** Per-token quantities of next-token prediction, [B, T]: position t speaks of the token after input t. */
function tokenTensors(
  graph: Graph,
  shape: DecoderShape,
  temperature: number,
  lora: LoraShape | undefined,
): TokenTensors {
  const ids = graph.input('ids', ['B', '2*U'], 'int64');
  const targets = graph.input('targets', ['B', '2*U'], 'int64');
  const causalMask = graph.input('causalMask', ['U', '2*U']);
  const outputs = forward(graph, shape, { ids, causalMask }, lora);
  const logits = outputs.logits();
  const scaled = temperature === 1 ? logits : multiply(logits, 1 / temperature);
  const weight = graph.input('channel.weight', ['B', '2*U']);
  return {
    logprobs: gatherLogSoftmax(scaled, targets),
    targets,
    weight,
    counted: trainedMask({ weight }),
    channel: (name) => graph.input(`channel.${name}`, ['B', '2*U']),
    entropies: () => {
      const distribution = logSoftmax(scaled);
      return negate(sum(multiply(exp(distribution), distribution), [-1]));
    },
    values: () => {
      if (shape.valueHead) return outputs.values();
      throw new TurnwiseError('engine-unsupported', {
        what: 'The objective needs values, and the model has no value head',
        next: 'Create the engine with a value head, or use an objective without a critic',
      });
    },
    valueLogits: () => {
      if (typeof shape.valueHead === 'object') return outputs.valueLogits();
      throw new TurnwiseError('engine-unsupported', {
        what: 'The objective needs a distribution over values, and the model has no value head with bins',
        next: 'Create the engine with a value head of { count, low, high }, or use a loss on scalar values',
      });
    },
    head: (name) => {
      headKind(shape, name);
      return outputs.extra(name);
    },
  };
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

/** One number per token of an extra head, [B, T]. */
function headReading(tokens: TokenTensors, shape: DecoderShape, name: string): Tensor {
  const output = tokens.head(name);
  return headKind(shape, name) === 'scalar' ? output : gatherLast(output, tokens.targets);
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
  lora?: LoraShape,
): TrainingProgram {
  const graph = new Graph();
  const { loss, metrics } = objective.build(tokenTensors(graph, shape, temperature, lora));
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
  return { key: programKey(objective, temperature), bytes: toOnnx(outputs), metrics: Object.keys(metrics) };
}

function isReadElsewhere(parameter: Node, nodes: readonly Node[], lookups: readonly Node[]): boolean {
  return nodes.some((node) => node.inputs.includes(parameter) && !lookups.includes(node));
}

export interface ScoreOptions {
  readonly temperature: number;
  readonly entropies?: boolean;
  readonly values?: boolean;
  readonly heads?: readonly string[];
}

/** Names of what a score program computes. */
export function scoreOutputs({ entropies, values, heads = [] }: ScoreOptions): string[] {
  return [
    'logprobs',
    ...(entropies ? ['entropies'] : []),
    ...(values ? ['values'] : []),
    ...heads.map((name) => `head.${name}`),
  ];
}

/** Outputs `logprobs`, and `entropies`, `values` and `head.NAME` where asked for, [B, T]. */
export function buildScoreProgram(shape: DecoderShape, options: ScoreOptions, lora?: LoraShape): Uint8Array {
  const tokens = tokenTensors(new Graph(), shape, options.temperature, lora);
  return toOnnx({
    logprobs: tokens.logprobs,
    ...(options.entropies && { entropies: tokens.entropies() }),
    ...(options.values && { values: tokens.values() }),
    ...Object.fromEntries(
      (options.heads ?? []).map((name) => [`head.${name}`, headReading(tokens, shape, name)]),
    ),
  });
}
