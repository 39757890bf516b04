/** Sampling throughput of the embedded engine: long completions of the bench model, and many short turns of a small one. */

import { Rng } from '../../src/core/rng.ts';
import { createEmbeddedEngine, type EmbeddedEngine } from '../../src/engine/embedded/embedded-engine.ts';
import type { SampleRequest } from '../../src/engine/engine.ts';
import type { DecoderShape } from '../../src/model/decoder/decoder.ts';
import { sampleAll } from '../../src/policy/sampler.ts';
import { demo } from './shapes.ts';

/** A shape of work: conversations that are all sampled at once, turn by turn. */
interface Workload {
  readonly conversations: number;
  readonly turns: number;
  readonly observationTokens: number;
  readonly sampledTokens: number;
}

const manyShortTurns: Workload = { conversations: 256, turns: 12, observationTokens: 6, sampledTokens: 1 };

export interface SamplingFigure {
  readonly workload: Workload;
  /** Median over the runs. */
  readonly seconds: number;
  readonly sampledTokensPerSecond: number;
  /** Prompt tokens included; each token counts once. */
  readonly forwardTokensPerSecond: number;
}

/** Completions of 255 tokens, `rows` of them at once, through the engine and its threads. */
export async function benchLongCompletions(
  shape: DecoderShape,
  rows: number,
  runs: number,
  threads: number,
): Promise<SamplingFigure> {
  const engine = await createEmbeddedEngine({ shape, seed: 'bench', threads, tokenBudget: 2048 });
  const work = { conversations: rows, turns: 1, observationTokens: 1, sampledTokens: 255 };
  const figure = await measure(engine, work, runs);
  await engine.close();
  return figure;
}

export interface DemoBench {
  readonly sampling: SamplingFigure;
  /** Making new weights the ones that are sampled from, median. */
  readonly publishMs: number;
}

/** Many conversations of short turns with the small model that the demonstrations train. */
export async function benchDemo(runs: number, threads: number): Promise<DemoBench> {
  const engine = await createEmbeddedEngine({ shape: demo, seed: 'bench', threads, tokenBudget: 2048 });
  const sampling = await measure(engine, manyShortTurns, runs);
  const publishTimes: number[] = [];
  for (let run = 0; run < runs; run++) {
    const start = performance.now();
    await engine.publish();
    publishTimes.push(performance.now() - start);
  }
  await engine.close();
  return { sampling, publishMs: median(publishTimes) };
}

async function measure(engine: EmbeddedEngine, workload: Workload, runs: number): Promise<SamplingFigure> {
  await play(engine, workload, 'warm-up');
  const times: number[] = [];
  const before = (await engine.statistics()).forwardTokens;
  for (let run = 0; run < runs; run++) {
    const start = performance.now();
    await play(engine, workload, `run ${run}`);
    times.push(performance.now() - start);
  }
  const forwardTokens = ((await engine.statistics()).forwardTokens - before) / runs;
  const seconds = median(times) / 1000;
  const sampled = workload.conversations * workload.turns * workload.sampledTokens;
  return {
    workload,
    seconds,
    sampledTokensPerSecond: sampled / seconds,
    forwardTokensPerSecond: forwardTokens / seconds,
  };
}

async function play(engine: EmbeddedEngine, workload: Workload, name: string): Promise<void> {
  const { conversations, turns, observationTokens, sampledTokens } = workload;
  const rng = Rng.of('observations', name);
  const histories = new Map(
    Array.from({ length: conversations }, (_, index): [string, number[]] => [`${name}/${index}`, []]),
  );
  for (let turn = 0; turn < turns; turn++) {
    const requests = [...histories].map(([conversation, history]): SampleRequest => {
      for (let token = 0; token < observationTokens; token++)
        history.push(rng.int(engine.capabilities.vocabulary));
      return {
        conversation,
        keep: 0,
        append: Int32Array.from(history),
        sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: sampledTokens },
        stopIds: [],
        seed: `${conversation}/${turn}`,
      };
    });
    const results = await sampleAll(engine, requests);
    for (const [index, history] of [...histories.values()].entries()) history.push(...results[index]!.ids);
  }
  engine.release([...histories.keys()]);
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}
