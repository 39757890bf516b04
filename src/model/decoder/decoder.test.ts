import { describe, expect, test } from 'vitest';
import { Rng } from '../../core/rng.ts';
import { gradients } from '../../graph/gradient.ts';
import { Graph } from '../../graph/graph.ts';
import { type Feed, loadGraph } from '../../graph/node/loaded-graph.ts';
import { toOnnx } from '../../graph/onnx.ts';
import { add, multiply } from '../../graph/operators/elementwise.ts';
import { gatherLogSoftmax } from '../../graph/operators/gather.ts';
import { sum } from '../../graph/operators/reduce.ts';
import type { Tensor } from '../../graph/tensor.ts';
import { type DecoderShape, initialWeights, parameterShapes } from './decoder.ts';
import { causalMask, forward } from './forward.ts';
import { adapterShapes, initialAdapter, type LoraShape } from './lora.ts';

const tiny: DecoderShape = {
  vocabulary: 7,
  width: 8,
  layers: 2,
  heads: 2,
  keyValueHeads: 2,
  headWidth: 4,
  hidden: 12,
  activation: 'swiglu',
  tiedHead: false,
  ropeTheta: 10_000,
  contextLength: 16,
  normEpsilon: 1e-5,
};

interface Model {
  readonly shape: DecoderShape;
  readonly weights: Map<string, Float32Array>;
  readonly feeds: Record<string, Feed>;
  run(outputs?: readonly string[]): Promise<Record<string, Float32Array>>;
  close(): Promise<void>;
}

/** Weights large enough that every part of the model matters, and the outputs of a loss that uses every output. */
async function model(shape: DecoderShape, ids: number[][], adapter?: LoraShape): Promise<Model> {
  const parameters = [...parameterShapes(shape), ...(adapter ? adapterShapes(shape, adapter) : [])];
  const weights = initialWeights(shape, Rng.of('decoder test'));
  if (adapter)
    for (const [name, { data }] of initialAdapter(shape, adapter, Rng.of('adapter'))) weights.set(name, data);
  for (const [name, data] of weights) {
    const rng = Rng.of(name);
    for (const index of data.keys()) data[index]! += 0.3 * rng.normal();
  }
  const graph = new Graph();
  const inputs = graph.input('ids', ['B', '2*U'], 'int64');
  const targets = graph.input('targets', ['B', '2*U'], 'int64');
  const weight = graph.input('weight', ['B', '2*U']);
  const mask = graph.input('causalMask', ['U', '2*U']);
  const outputs = forward(graph, shape, { ids: inputs, causalMask: mask }, adapter);
  const logprobs = gatherLogSoftmax(outputs.logits(), targets);
  const values: Tensor | undefined = shape.valueHead ? outputs.values() : undefined;
  const perToken = values ? add(logprobs, multiply(values, values)) : logprobs;
  const loss = sum(multiply(perToken, weight));
  const wrt = gradients(
    loss,
    parameters.map((parameter) => graph.parameter(parameter.name, parameter.shape)),
  );
  const named = Object.fromEntries(parameters.map(({ name }, index) => [`gradient.${name}`, wrt[index]!]));
  const bytes = toOnnx({ loss, logprobs, ...(values && { values }), ...named });
  const session = await loadGraph(bytes, { threads: 1 });
  const [B, T] = [ids.length, ids[0]!.length];
  const rng = Rng.of('feeds');
  const feeds: Record<string, Feed> = {
    ids: { data: BigInt64Array.from(ids.flat(), (id) => BigInt(id)), shape: [B, T] },
    targets: {
      data: BigInt64Array.from(ids.flat(), (id) => BigInt((id * 3 + 1) % shape.vocabulary)),
      shape: [B, T],
    },
    weight: { data: Float32Array.from({ length: B * T }, () => rng.normal()), shape: [B, T] },
    causalMask: causalMask(T),
  };
  for (const parameter of parameters) {
    feeds[parameter.name] = { data: weights.get(parameter.name)!, shape: parameter.shape };
  }
  return {
    shape,
    weights,
    feeds,
    run: (outputs) => session.run(feeds, outputs),
    close: () => session.close(),
  };
}

const adapter: LoraShape = { rank: 2, alpha: 3, targets: ['q_proj', 'o_proj', 'gate_proj', 'down_proj'] };

const smallest = { layers: 1, width: 4, hidden: 5, headWidth: 2 };

const variants: Record<string, Partial<DecoderShape> & { adapter?: LoraShape }> = {
  'SwiGLU, untied': {},
  'GELU, tied': { activation: 'gelu', tiedHead: true },
  'SwiGLU, tied, shared keys and values, value head': { keyValueHeads: 1, tiedHead: true, valueHead: true },
  'GELU, untied, two groups of two heads': { activation: 'gelu', heads: 4, headWidth: 2 },
  'biases of queries, keys and values': { ...smallest, queryKeyValueBias: true, keyValueHeads: 1 },
  'norms of queries and keys, heads that do not add up to the width': {
    ...smallest,
    queryKeyNorm: true,
    heads: 2,
    keyValueHeads: 1,
    headWidth: 6,
  },
  'slowed rotation': {
    ...smallest,
    headWidth: 4,
    ropeScaling: {
      factor: 4,
      lowFrequencyFactor: 0.1,
      highFrequencyFactor: 0.4,
      originalContextLength: 4,
    },
  },
  'a value head with bins': { ...smallest, valueHead: { count: 3, low: -1, high: 2 } },
  'an adapter': { ...smallest, adapter },
  'an adapter beside biases and norms, tied': {
    ...smallest,
    tiedHead: true,
    queryKeyValueBias: true,
    queryKeyNorm: true,
    adapter: { ...adapter, targets: ['k_proj', 'v_proj', 'up_proj'] },
  },
};

const batch = [
  [1, 5, 2, 6],
  [3, 3, 0, 4],
];

/** The loss, summed over tokens here, in double precision, so that differences are not lost to rounding. */
async function lossOf(decoder: Model): Promise<number> {
  const { logprobs, values } = await decoder.run(
    decoder.shape.valueHead ? ['logprobs', 'values'] : ['logprobs'],
  );
  const weight = decoder.feeds.weight!.data as Float32Array;
  return weight.reduce((total, w, i) => total + w * (logprobs![i]! + (values ? values[i]! ** 2 : 0)), 0);
}

describe.each(Object.entries(variants))('%s', (_name, { adapter, ...variant }) => {
  test('the gradient agrees with finite differences in random directions over all weights', async () => {
    const decoder = await model({ ...tiny, ...variant }, batch, adapter);
    const exact = await decoder.run();
    const kept = new Map([...decoder.weights].map(([name, data]) => [name, data.slice()]));
    const elements = [...kept.values()].reduce((total, data) => total + data.length, 0);
    for (let trial = 0; trial < 5; trial++) {
      const rng = Rng.of('direction', trial);
      const direction = new Map(
        [...kept].map(([name, data]) => [name, Float32Array.from(data, () => rng.normal())]),
      );
      const at = async (step: number): Promise<number> => {
        for (const [name, data] of decoder.weights) {
          const [start, along] = [kept.get(name)!, direction.get(name)!];
          for (const i of data.keys()) data[i] = start[i]! + step * along[i]!;
        }
        return lossOf(decoder);
      };
      const step = 8e-4 / Math.sqrt(elements / 100);
      const numeric = (await at(step)) - (await at(-step));
      let expected = 0;
      let squares = 0;
      for (const [name, along] of direction) {
        const gradient = exact[`gradient.${name}`]!;
        expected += 2 * step * gradient.reduce((total, g, i) => total + g * along[i]!, 0);
        squares += gradient.reduce((total, g) => total + g * g, 0);
      }
      expect(Math.abs(numeric - expected)).toBeLessThan(5e-3 * 2 * step * Math.sqrt(squares));
    }
    await decoder.close();
  });

  test('every gradient agrees with finite differences, element by element', async () => {
    const decoder = await model({ ...tiny, ...variant }, batch, adapter);
    const exact = await decoder.run();
    const loss = (): Promise<number> => lossOf(decoder);
    const step = 4e-3;
    for (const [name, data] of decoder.weights) {
      const gradient = exact[`gradient.${name}`]!;
      expect(gradient.length).toBe(data.length);
      const size = Math.sqrt(gradient.reduce((total, g) => total + g * g, 0) / gradient.length);
      expect(size, name).toBeGreaterThan(1e-4);
      for (const [index, kept] of data.entries()) {
        data[index] = kept + step;
        const up = await loss();
        const above = data[index]!;
        data[index] = kept - step;
        const numeric = (up - (await loss())) / (above - data[index]!);
        data[index] = kept;
        const error = Math.abs(numeric - gradient[index]!);
        if (!(error < 2e-3 * Math.abs(numeric) + 1e-2 * size + 1e-3)) {
          expect.fail(`${name}[${index}]: ${gradient[index]} instead of ${numeric}`);
        }
      }
    }
    await decoder.close();
  });
});

test('a token sees itself and what came before, nothing later', async () => {
  const shape = { ...tiny, keyValueHeads: 1 };
  const long = await model(shape, [[1, 5, 2, 6, 3, 1]]);
  const other = await model(shape, [[1, 5, 2, 0, 0, 4]]);
  const before = (await long.run(['logprobs'])).logprobs!;
  const after = (await other.run(['logprobs'])).logprobs!;
  expect([...after.subarray(0, 3)]).toEqual([...before.subarray(0, 3)]);
  const earlier = await model(shape, [[2, 5, 2, 6, 3, 1]]);
  const changed = (await earlier.run(['logprobs'])).logprobs!;
  for (let t = 0; t < 5; t++) expect(changed[t]).not.toBe(before[t]);
  await Promise.all([long.close(), other.close(), earlier.close()]);
});

const bytesOf = (data: Float32Array): Buffer => Buffer.from(data.buffer);

test('initial weights are reproducible and scaled by their inputs', () => {
  const shape = { ...tiny, width: 64, hidden: 256, vocabulary: 100, valueHead: true };
  const weights = initialWeights(shape, Rng.of(1));
  expect([...weights.keys()]).toEqual(parameterShapes(shape).map(({ name }) => name));
  const again = initialWeights(shape, Rng.of(1));
  for (const [name, data] of weights)
    expect(Buffer.compare(bytesOf(data), bytesOf(again.get(name)!)), name).toBe(0);
  const deviation = (name: string): number => {
    const data = weights.get(name)!;
    return Math.sqrt(data.reduce((total, x) => total + x * x, 0) / data.length);
  };
  expect(deviation('model.embed_tokens.weight') / 0.02).toBeCloseTo(1, 1);
  expect(deviation('lm_head.weight') / 0.02).toBeCloseTo(1, 1);
  expect(deviation('model.layers.1.mlp.gate_proj.weight') / (0.7 / 8)).toBeCloseTo(1, 1);
  expect(deviation('model.layers.1.mlp.down_proj.weight') / (0.7 / 16 / 2)).toBeCloseTo(1, 1);
  expect(deviation('model.norm.weight')).toBe(1);
  expect(deviation('value_head.weight')).toBe(0);
});
