/**
 * Sampling from the 135M shape with adapters, beside PyTorch with the same adapters in its two precisions and, where there is
 * one, llama.cpp without any. And what it takes to read prompts that begin alike.
 */

import { Rng } from '../../src/core/rng.ts';
import { createEmbeddedEngine, type EmbeddedEngine } from '../../src/engine/embedded/embedded-engine.ts';
import { sampleAll } from '../../src/policy/sampler.ts';
import { hasLlama, hasPytorch, llama, pytorch } from './peers.ts';
import { median } from './sampling.ts';
import { smol } from './shapes.ts';

/** Tokens of a completion. */
const tokens = 32;
const rounds = 3;
/** A prompt as environments in natural wording write it: most of it is the same in all episodes. */
const prompt = { shared: 400, own: 50, rows: 16 } as const;

type Figures = Readonly<Record<string, number>>;

/** Tokens a second, and how many times as fast as the peers; then seconds to read prompts. */
export async function benchDecoding(threads: number): Promise<Readonly<Record<string, Figures>>> {
  const results: Record<string, Figures> = {};
  const engine = await createEmbeddedEngine({
    ...{ shape: smol, lora: { rank: 16 }, seed: 'bench', threads, tokenBudget: 512, slots: 64 },
  });
  try {
    for (const rows of [1, 16, 64]) {
      process.stderr.write(`sampling ${rows} rows\n`);
      const figures = await beside(engine, rows, threads);
      results[`${rows} rows`] = figures;
      process.stderr.write(`${JSON.stringify(figures)}\n`);
    }
    results[`reading ${prompt.rows} prompts of ${prompt.shared + prompt.own}`] = {
      alikeSeconds: await readingSeconds(engine, prompt.shared),
      differentSeconds: await readingSeconds(engine, 0),
    };
  } finally {
    await engine.close();
  }
  return results;
}

async function beside(engine: EmbeddedEngine, rows: number, threads: number): Promise<Figures> {
  const peers: Record<string, () => number> = {
    ...(hasPytorch && {
      pytorchF32: () => ofPytorch('float32', rows, threads),
      pytorchBf16: () => ofPytorch('bfloat16', rows, threads),
    }),
    ...(hasLlama && process.env.TURNWISE_BENCH_GGUF !== undefined
      ? {
          llamaCpp: () =>
            llama({ rows, tokens, threads, file: process.env.TURNWISE_BENCH_GGUF }).tokensPerSecond,
        }
      : {}),
  };
  await tokensPerSecond(engine, rows);
  const ours: number[] = [];
  const theirs: Record<string, number[]> = {};
  for (let round = 0; round < rounds; round++) {
    ours.push(await tokensPerSecond(engine, rows));
    for (const [name, measure] of Object.entries(peers)) {
      theirs[name] ??= [];
      theirs[name].push(measure());
    }
  }
  return Object.fromEntries([
    ['tokensPerSecond', Math.round(median(ours))],
    ...Object.entries(theirs).flatMap(([name, figures]) => [
      [name, Math.round(median(figures))],
      [`of ${name}`, rounded(median(figures.map((figure, round) => ours[round]! / figure)))],
    ]),
  ]);
}

const ofPytorch = (dtype: string, rows: number, threads: number): number =>
  pytorch({ task: 'sample', shape: smol, rank: 16, rows, tokens, steps: 1, dtype, threads }).tokensPerSecond;

async function tokensPerSecond(engine: EmbeddedEngine, rows: number): Promise<number> {
  const began = performance.now();
  await sampleAll(
    engine,
    Array.from({ length: rows }, (_, row) => request(`row ${row}`, Int32Array.of(1 + row), tokens - 1)),
  );
  const seconds = (performance.now() - began) / 1000;
  engine.release(Array.from({ length: rows }, (_, row) => `row ${row}`));
  return (rows * (tokens - 1)) / seconds;
}

async function readingSeconds(engine: EmbeddedEngine, shared: number): Promise<number> {
  const rng = Rng.of('prompts');
  const draw = (length: number): number[] => Array.from({ length }, () => rng.int(smol.vocabulary));
  const opening = draw(shared);
  const names = Array.from({ length: prompt.rows }, (_, row) => `prompt ${row}`);
  const requests = names.map((name) =>
    request(name, Int32Array.from([...opening, ...draw(prompt.shared + prompt.own - shared)]), 1),
  );
  const began = performance.now();
  await sampleAll(engine, requests);
  const seconds = (performance.now() - began) / 1000;
  engine.release(names);
  return rounded(seconds);
}

const request = (conversation: string, append: Int32Array, maxTokens: number) => ({
  conversation,
  keep: 0,
  append,
  stopIds: [],
  seed: conversation,
  sampling: { temperature: 1, topP: 1, topK: 0, maxTokens },
});

const rounded = (value: number): number => Number(value.toFixed(2));
