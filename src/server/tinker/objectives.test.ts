/** Every objective through the wire: the gradient of the embedded engine, on servers that add up and on servers that average. */

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { Rng } from '../../core/rng.ts';
import { stepFor } from '../../engine/embedded/testing/whole-step.ts';
import type { AdamOptions, Engine, ForwardBackwardResult, TokenBatch } from '../../engine/engine.ts';
import { forwardBackwardStep } from '../../engine/objective-step.ts';
import { readSafetensors, type Weights } from '../../model/checkpoint/safetensors.ts';
import type { Objective, StepStructure } from '../../objective/contract/objective.ts';
import { findObjective, objectives } from '../../objective/objectives.ts';
import { parsePath } from './checkpoints.ts';
import { baseEngine, tinyClient, tinyServer, tinySource } from './testing/tiny-server.ts';

/** With epsilon far above every gradient and no memory, Adam takes a step of a tenth of the gradient. */
const plain: AdamOptions = {
  learningRate: 1e3,
  beta1: 0,
  beta2: 0,
  epsilon: 1e4,
  weightDecay: 0,
  clipNorm: 0,
};

/** The same weights on a server that divides each datum by its weights and averages over all data of a step. */
function averaging(engine: Engine): Engine {
  const passes: { batch: TokenBatch; objective: Objective; options: { temperature: number } }[] = [];
  const averaged = ({ rows, targets }: TokenBatch, count: number): TokenBatch => {
    const { row_N, channels } = targets;
    const totals = rows.map(() => 0);
    for (const [target, weight] of channels.weight!.entries()) totals[row_N[target]!]! += weight;
    const weight = channels.weight!.map((own, target) => own / totals[row_N[target]!]! / count);
    return { rows, targets: { ...targets, channels: { ...channels, weight } } };
  };
  return {
    ...bound(engine),
    forwardBackward: async (batch, objective, options): Promise<ForwardBackwardResult> => {
      passes.push({ batch, objective, options });
      return { loss: 0, metrics: {}, tokens: 0, paddedTokens: 0 };
    },
    optimStep: async (options) => {
      const count = passes.reduce((sum, { batch }) => sum + batch.rows.length, 0);
      for (const { batch, objective, options } of passes.splice(0))
        await engine.forwardBackward(averaged(batch, count), objective, options);
      return engine.optimStep(options);
    },
  };
}

const bound = (engine: Engine): Engine => ({
  version: engine.version,
  capabilities: engine.capabilities,
  sample: (requests) => engine.sample(requests),
  release: (conversations) => engine.release(conversations),
  score: (batch, options) => engine.score(batch, options),
  forwardBackward: (batch, objective, options) => engine.forwardBackward(batch, objective, options),
  optimStep: (options) => engine.optimStep(options),
  restartOptimizer: () => engine.restartOptimizer(),
  publish: () => engine.publish(),
  freeze: (rate) => engine.freeze(rate),
  save: (folder) => engine.save(folder),
  load: (folder, options) => engine.load(folder, options),
  close: () => engine.close(),
});

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'turnwise-objectives-'));
  folders.push(folder);
  return folder;
}

async function weightsIn(folder: string): Promise<Weights> {
  return (await readSafetensors(join(folder, 'model.safetensors'))).tensors;
}

/** Ten times the movement since `before` is the gradient, downhill. */
function movement(before: Weights, after: Weights): number[] {
  return [...after].flatMap(([name, { data }]) => {
    const old = before.get(name)!.data;
    return Array.from(data, (value, index) => 10 * (value - old[index]!));
  });
}

const take = (engine: Engine, objective: Objective, step: TokenBatch & StepStructure) =>
  forwardBackwardStep(engine, step, objective, { temperature: 1, step: 200, rng: Rng.of('draw'), ...step });

/** Where the usual coefficient makes gradients too small to compare. */
const louder: Readonly<Record<string, object>> = { 'kl-penalty': { klCoefficient: 1 } };

const fromLogprobs = objectives.filter(({ create }) => {
  const { needs } = create();
  const heads = [
    ...(needs.heads ?? []),
    ...(needs.scores?.heads ?? []),
    ...(needs.scores?.frozenHeads ?? []),
  ];
  const others = [needs.entropies, needs.values, needs.valueLogits, needs.distribution];
  return !others.some(Boolean) && heads.length === 0;
});

// What the scale changes is the same for all: a few of every kind stand for them where losses are averaged.
const some = ['ppo-clip', 'importance-sampling', 'gspo', 'kl-cov', 'cross-entropy', 'dpo'];

describe.each([
  ['sum', fromLogprobs],
  ['mean', fromLogprobs.filter(({ name }) => some.includes(name))],
] as const)('on a server whose losses are a %s', (lossScale, entries) => {
  test(`the gradients of ${entries.length} objectives, weight by weight, to 1e-5`, {
    timeout: 120_000,
  }, async () => {
    const source = lossScale === 'sum' ? tinySource : { ...tinySource, create: averagingSource };
    const { url, server } = await tinyServer({ source });
    const remote = await tinyClient(url, { lossScale });
    const direct = await baseEngine();
    const saved = async (engine: Engine): Promise<Weights> => {
      const folder = await newFolder();
      await engine.save(folder);
      if (engine === direct) return weightsIn(folder);
      const { path } = JSON.parse(await readFile(join(folder, 'tinker.json'), 'utf8')) as { path: string };
      return weightsIn(server.checkpoints.folder(parsePath(path, 'weights')));
    };
    const engines = [direct, remote];
    let before = await Promise.all(engines.map(saved));
    for (const { name, create } of entries) {
      const step = await stepFor(direct);
      const [expected, got] = await Promise.all(
        engines.map((engine) => take(engine, create(louder[name]), step)),
      );
      expect(Math.abs(got!.loss - expected!.loss), name).toBeLessThan(1e-5);
      for (const [metric, value] of Object.entries(expected!.metrics))
        expect(Math.abs(got!.metrics[metric]! - value), `${name} ${metric}`).toBeLessThan(1e-5);
      await Promise.all(engines.map((engine) => engine.optimStep(plain)));
      const after = await Promise.all(engines.map(saved));
      const [theirs, ours] = after.map((weights, index) => movement(before[index]!, weights));
      before = after;
      expect(Math.max(...theirs!.map(Math.abs)), name).toBeGreaterThan(1e-3);
      for (const [index, value] of theirs!.entries())
        if (!(Math.abs(ours![index]! - value) < 1e-5)) expect([name, index, ours![index]]).toEqual(value);
    }
  });
});

async function averagingSource(): Promise<Engine> {
  return averaging(await tinySource.create({ rank: 0, targets: 'all', seed: '' }));
}

test('objectives that need more than log-probabilities are refused, each with what it lacks', async () => {
  const { url, server } = await tinyServer();
  const remote = await tinyClient(url, { lossScale: 'sum' });
  const step = await stepFor(remote);
  const before = server.futures.size;
  const refused: Record<string, string> = {};
  for (const { name, create } of objectives.filter((entry) => !fromLogprobs.includes(entry)))
    refused[name] = await take(remote, create(), step).then(
      () => 'accepted',
      (error: Error) => error.message,
    );
  refused['ppo-clip with entropy'] = await take(
    remote,
    findObjective('ppo-clip').create({ entropyCoefficient: 0.1 }),
    step,
  ).then(
    () => 'accepted',
    (error: Error) => error.message,
  );
  expect(refused).toMatchInlineSnapshot(`
    {
      "archer-critic": "The Tinker API has no extra heads. Use an objective that depends on log-probabilities alone, or the embedded engine.",
      "archer-iql": "The Tinker API has no extra heads. Use an objective that depends on log-probabilities alone, or the embedded engine.",
      "bradley-terry": "The Tinker API has no extra heads. Use an objective that depends on log-probabilities alone, or the embedded engine.",
      "entropy-bonus": "The Tinker API has no entropies. Use an objective that depends on log-probabilities alone, or the embedded engine.",
      "entropy-smoothing": "The Tinker API has no entropies. Use an objective that depends on log-probabilities alone, or the embedded engine.",
      "forward-kl": "The Tinker API has no log-probabilities of other tokens. Use an objective that depends on log-probabilities alone, or the embedded engine.",
      "hl-gauss": "The Tinker API has no values. Use an objective that depends on log-probabilities alone, or the embedded engine.",
      "ilql": "The Tinker API has no extra heads. Use an objective that depends on log-probabilities alone, or the embedded engine.",
      "mc-returns": "The Tinker API has no extra heads. Use an objective that depends on log-probabilities alone, or the embedded engine.",
      "ppo-clip with entropy": "The Tinker API has no entropies. Use an objective that depends on log-probabilities alone, or the embedded engine.",
      "two-hot": "The Tinker API has no values. Use an objective that depends on log-probabilities alone, or the embedded engine.",
      "value-loss": "The Tinker API has no values. Use an objective that depends on log-probabilities alone, or the embedded engine.",
    }
  `);
  expect(server.futures.size).toBe(before);
});
