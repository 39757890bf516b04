/** Sampling throughput of the embedded engine: long completions of the bench model, and many short turns of a small one. */

import { Rng } from '../src/core/rng.ts';
import { createEmbeddedEngine, type EmbeddedEngine } from '../src/engine/embedded/embedded-engine.ts';
import type { SampleRequest } from '../src/engine/engine.ts';
import type { DecoderShape } from '../src/model/decoder.ts';
import { benchShape } from './engine-training.ts';

/** The size of model that the demonstrations train: 0.6M parameters. */
const demoShape: DecoderShape = {
  vocabulary: 64,
  width: 128,
  layers: 3,
  heads: 4,
  keyValueHeads: 4,
  headWidth: 32,
  hidden: 352,
  activation: 'swiglu',
  tiedHead: false,
  ropeTheta: 10_000,
  contextLength: 128,
  normEpsilon: 1e-6,
};

/** A shape of work: conversations that are all sampled at once, turn by turn. */
interface Workload {
  readonly conversations: number;
  readonly turns: number;
  readonly observationTokens: number;
  readonly sampledTokens: number;
}

const demoWorkload: Workload = { conversations: 256, turns: 12, observationTokens: 6, sampledTokens: 1 };

export interface SamplingFigure {
  readonly workload: Workload;
  /** Median over the runs. */
  readonly seconds: number;
  readonly sampledTokensPerSecond: number;
  /** Prompt tokens included; each token counts once. */
  readonly forwardTokensPerSecond: number;
}

export interface SamplingBench {
  /** The bench model, 256 tokens a row: by number of rows. */
  readonly rows: Readonly<Record<1 | 32 | 128, SamplingFigure>>;
  readonly demo: SamplingFigure;
  /** Making new weights the ones that are sampled from, median of the demo model. */
  readonly publishMs: number;
}

/** Measures sampling through the engine, in its worker thread when run from the built package. */
export async function benchSampling(runs = 5, threads = 2): Promise<SamplingBench> {
  const create = (shape: DecoderShape): Promise<EmbeddedEngine> =>
    createEmbeddedEngine({ shape, seed: 'bench', threads, tokenBudget: 2048 });
  const large = await create(benchShape);
  const long = (conversations: number): Promise<SamplingFigure> =>
    measure(large, { conversations, turns: 1, observationTokens: 1, sampledTokens: 255 }, runs);
  const rows = { 1: await long(1), 32: await long(32), 128: await long(128) };
  await large.close();

  const small = await create(demoShape);
  const demo = await measure(small, demoWorkload, runs);
  const publishTimes: number[] = [];
  for (let run = 0; run < runs; run++) {
    const start = performance.now();
    await small.publish();
    publishTimes.push(performance.now() - start);
  }
  await small.close();
  return { rows, demo, publishMs: median(publishTimes) };
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
        promptIds: [...history],
        maxTokens: sampledTokens,
        stopIds: [],
        temperature: 1,
        topP: 1,
        topK: 0,
        seed: `${conversation}/${turn}`,
      };
    });
    const results = await engine.sample(requests);
    for (const [index, history] of [...histories.values()].entries()) history.push(...results[index]!.ids);
  }
  await engine.release([...histories.keys()]);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}
