/** Checkpoints of every family give the numbers that transformers gives: forward, backward, sampling and training. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { openAdapter, readAdapter } from '../../../model/checkpoint/adapter-folder.ts';
import { openCheckpoint, readCheckpoint } from '../../../model/checkpoint/checkpoint.ts';
import { readSafetensors, type Weights } from '../../../model/checkpoint/safetensors.ts';
import { parameterShapes } from '../../../model/decoder/decoder.ts';
import { sampleAll } from '../../../policy/sampler.ts';
import type { AdamOptions } from '../../engine.ts';
import { type AdapterOptions, createEmbeddedEngine, type EmbeddedEngine } from '../embedded-engine.ts';
import {
  type Expected,
  type ExpectedScores,
  type ExpectedSteps,
  expectClose,
  expectGradients,
  expectLogits,
  expectScores,
  families,
  modelPass,
  tokenBatch,
} from '../testing/parity.ts';
import { likelihood } from '../testing/tiny-engine.ts';

const engines: EmbeddedEngine[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function engineFrom(folder: string, more: AdapterOptions = {}): Promise<EmbeddedEngine> {
  const model = await openCheckpoint(folder);
  const engine = await createEmbeddedEngine({
    model,
    ...more,
    seed: 0,
    threads: 1,
    tokenBudget: 40,
    inProcess: true,
  });
  engines.push(engine);
  return engine;
}

/** What the engine scores for the batch, through micro-batches of other shapes than the reference had. */
async function expectEngineScores(engine: EmbeddedEngine, all: Expected, scores: ExpectedScores) {
  const found = await engine.score(tokenBatch(all), { temperature: 1, entropies: true });
  for (const [row, values] of scores.logprobs.entries()) {
    expectClose(`scored row ${row}`, found.logprobs[row]!.subarray(1), values, 1e-5);
    // The last entry of the reference is of the token after the row, which an engine does not score.
    expectClose(
      `entropies of row ${row}`,
      found.entropies![row]!.subarray(1),
      scores.entropy[row]!.slice(0, -1),
      1e-5,
    );
  }
}

async function train(engine: EmbeddedEngine, all: Expected, expected: ExpectedSteps): Promise<void> {
  const { lr, betas, eps, weight_decay, clip_norm } = all.adamw_options;
  const options: AdamOptions = {
    learningRate: lr,
    beta1: betas[0],
    beta2: betas[1],
    epsilon: eps,
    weightDecay: weight_decay,
    decayAll: true,
    clipNorm: clip_norm,
  };
  for (const { loss, grad_norm_before_clip: norm } of expected.steps) {
    const result = await engine.forwardBackward(tokenBatch(all), likelihood, { temperature: 1 });
    expect(Math.abs(result.loss - loss)).toBeLessThan(1e-4);
    const { gradientNorm } = await engine.optimStep(options);
    expect(Math.abs(gradientNorm / norm - 1)).toBeLessThan(1e-3);
  }
  const after = await engine.forwardBackward(tokenBatch(all), likelihood, { temperature: 1 });
  expect(Math.abs(after.loss - expected.loss_after)).toBeLessThan(1e-3);
}

async function expectSampledIsScored(engine: EmbeddedEngine, prompt: readonly number[]): Promise<void> {
  const [sampled] = await sampleAll(engine, [
    {
      conversation: 'sampled',
      keep: 0,
      append: Int32Array.from(prompt),
      sampling: { temperature: 0.9, topP: 1, topK: 0, maxTokens: 32 },
      stopIds: [],
      seed: 'sampled',
    },
  ]);
  const ids_T = Int32Array.from([...prompt, ...sampled!.ids]);
  const scored = await engine.score({ rows: [{ ids_T }] }, { temperature: 0.9 });
  expectClose(
    'sampled log-probabilities',
    sampled!.logprobs,
    scored.logprobs[0]!.subarray(prompt.length),
    1e-4,
  );
}

function expectNorms(weights: Weights, norms: Readonly<Record<string, number>>): void {
  expect([...weights.keys()].sort()).toEqual(Object.keys(norms).sort());
  for (const [name, norm] of Object.entries(norms)) {
    const size = Math.sqrt(weights.get(name)!.data.reduce((total, value) => total + value * value, 0));
    expect(Math.abs(size / norm - 1), `norm of ${name}`).toBeLessThan(1e-4);
  }
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'turnwise-parity-'));
  folders.push(folder);
  return folder;
}

describe.each(families())('$name', ({ folder, expected, exact, stored }) => {
  test.each(exact)('%s: logits, log-probabilities, entropies, loss and gradients', async (variant) => {
    const model = await openCheckpoint(join(folder, variant));
    const weights = await readCheckpoint(model);
    const wrt = parameterShapes(model.shape).map(({ name }) => name);
    const pass = await modelPass(model.shape, weights, expected, { wrt });
    expectScores(pass, expected, expected);
    expectGradients(pass.gradients, expected.gradients);
  });

  test.each(stored)('%s: the weights as stored', async (variant) => {
    const model = await openCheckpoint(join(folder, variant));
    const pass = await modelPass(model.shape, await readCheckpoint(model), expected);
    expectScores(pass, expected.stored![variant]!, expected);
  });

  test('the engine scores, samples greedily with its cache, and makes the same optimizer steps', async () => {
    const engine = await engineFrom(join(folder, exact[0]!));
    await expectEngineScores(engine, expected, expected);
    const { prompt, ids, logprobs } = expected.greedy;
    const [result] = await sampleAll(engine, [
      {
        conversation: 'greedy',
        keep: 0,
        append: Int32Array.from(prompt),
        sampling: { temperature: 0, topP: 1, topK: 0, maxTokens: ids.length },
        stopIds: [],
        seed: 'greedy',
      },
    ]);
    expect([...result!.ids]).toEqual(ids);
    expectClose('greedy log-probabilities', result!.logprobs, logprobs, 1e-4);

    await train(engine, expected, expected.adamw);
    const saved = await temporaryFolder();
    await engine.save(saved);
    const { tensors } = await readSafetensors(join(saved, 'model.safetensors'));
    expectNorms(tensors, expected.adamw.parameter_norms_after);
    const model = await openCheckpoint(join(folder, exact[0]!));
    const after = await modelPass(model.shape, tensors, expected);
    expectLogits(after.logits, expected.adamw.logits_after, expected, 1e-3);
  });

  test('with its adapter: logits, log-probabilities, entropies, loss and gradients', async () => {
    const model = await openCheckpoint(join(folder, exact[0]!));
    const opened = await openAdapter(join(folder, 'adapter'), model.shape);
    const adapter = await readAdapter(opened, model.shape);
    const weights = new Map([...(await readCheckpoint(model)), ...adapter]);
    const options = { adapter: opened.lora, wrt: [...adapter.keys()] };
    const pass = await modelPass(model.shape, weights, expected, options);
    expectScores(pass, expected.adapter, expected);
    expectGradients(pass.gradients, expected.adapter.gradients);
  });

  test('the engine trains the adapter alone, and samples what it scores', async () => {
    const engine = await engineFrom(join(folder, exact[0]!), { adapter: join(folder, 'adapter') });
    await expectEngineScores(engine, expected, expected.adapter);
    const reference = await engine.score(tokenBatch(expected), { temperature: 1, frozen: true });
    for (const [row, values] of expected.logprobs.entries())
      expectClose(`reference of row ${row}`, reference.logprobs[row]!.subarray(1), values, 1e-5);

    await train(engine, expected, expected.adapter.adamw);
    await engine.publish();
    await expectSampledIsScored(engine, expected.greedy.prompt);
    const saved = await temporaryFolder();
    await engine.save(saved);
    const { tensors } = await readSafetensors(join(saved, 'adapter_model.safetensors'));
    expectNorms(tensors, expected.adapter.adamw.parameter_norms_after);
    const model = await openCheckpoint(join(folder, exact[0]!));
    const weights = new Map([...(await readCheckpoint(model)), ...tensors]);
    const after = await modelPass(model.shape, weights, expected, { adapter: engine.lora! });
    expectLogits(after.logits, expected.adapter.adamw.logits_after, expected, 1e-3);
  });

  test('merged and exported, it is a checkpoint with the same numbers', async () => {
    const engine = await engineFrom(join(folder, exact[0]!), { adapter: join(folder, 'adapter') });
    const exported = await temporaryFolder();
    await engine.exportModel(exported);
    const model = await openCheckpoint(exported);
    const pass = await modelPass(model.shape, await readCheckpoint(model), expected);
    expectScores(pass, expected.adapter.merged, expected);
  });
});
