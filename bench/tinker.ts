/** A step of reinforcement learning over HTTP on one machine: publish, sample, forward-backward, optimizer step. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTinkerEngine } from '../src/engine/tinker/create-tinker-engine.ts';
import { batchOf, type TokenRow } from '../src/engine/token-batch.ts';
import { namedLoss, objectiveOf } from '../src/objective/named-losses.ts';
import { ppoClip } from '../src/objective/policy-gradient/ppo-clip.ts';
import { sampleAll } from '../src/policy/sampler.ts';
import { randomSource } from '../src/run/model/served-model.ts';
import { listenTinker } from '../src/server/tinker/listen.ts';

const samples = 32;
const sampledTokens = 16;
const vocabulary = 264;
const prompt = [72, 101, 108, 108, 111, 44, 32];

const shape = {
  vocabulary,
  width: 64,
  layers: 2,
  heads: 4,
  keyValueHeads: 2,
  headWidth: 16,
  hidden: 128,
  activation: 'swiglu',
  tiedHead: true,
  ropeTheta: 10_000,
  contextLength: 128,
  normEpsilon: 1e-6,
} as const;

export interface TinkerBench {
  /** Median seconds of a warm step, with a loss that the server knows by name. */
  readonly stepSeconds: number;
  /** The same with an objective that runs by the chain rule. */
  readonly chainRuleStepSeconds: number;
  /** Median milliseconds of its parts. */
  readonly partsMs: Readonly<Record<'publish' | 'sample' | 'forwardBackward' | 'optimStep', number>>;
}

export async function benchTinker(steps = 20, threads = 1): Promise<TinkerBench> {
  const folder = await mkdtemp(join(tmpdir(), 'turnwise-bench-'));
  const source = randomSource('small', shape, 1, { threads, tokenBudget: 2048 });
  const listening = await listenTinker({ source, folder, port: 0, host: '127.0.0.1' });
  const engine = await createTinkerEngine({
    baseUrl: listening.url,
    baseModel: 'small',
    loraRank: 0,
    seed: 1,
    vocabulary,
    lossScale: 'sum',
  });
  const named = objectiveOf(namedLoss('ppo'));
  const times = {
    publish: [],
    sample: [],
    forwardBackward: [],
    optimStep: [],
    named: [],
    chainRule: [],
  } as Record<string, number[]>;
  for (let step = -3; step < steps; step++) {
    for (const [kind, objective] of [
      ['named', named],
      ['chainRule', ppoClip()],
    ] as const) {
      const marks = [performance.now()];
      await engine.publish();
      marks.push(performance.now());
      const results = await sampleAll(
        engine,
        Array.from({ length: samples }, (_, index) => ({
          conversation: `${step}/${index}`,
          keep: 0,
          append: Int32Array.from(prompt),
          sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: sampledTokens },
          stopIds: [],
          seed: `${step}/${index}`,
        })),
      );
      marks.push(performance.now());
      const rows = results.map(({ ids, logprobs }, index): TokenRow => {
        const length = prompt.length + ids.length;
        const tail = (values: (t: number) => number): Float32Array =>
          Float32Array.from({ length }, (_, t) => (t < prompt.length ? 0 : values(t - prompt.length)));
        return {
          ids_T: Int32Array.of(...prompt, ...ids),
          channels: {
            weight: tail(() => 1 / (samples * sampledTokens)),
            advantages: tail(() => (index % 2 === 0 ? 1 : -1)),
            oldLogprobs: tail((t) => logprobs[t]!),
          },
        };
      });
      await engine.forwardBackward(batchOf(rows), objective, { temperature: 1 });
      marks.push(performance.now());
      await engine.optimStep({
        learningRate: 1e-3,
        beta1: 0.9,
        beta2: 0.95,
        epsilon: 1e-8,
        weightDecay: 0,
        clipNorm: 1,
      });
      marks.push(performance.now());
      if (step < 0) continue;
      times[kind]!.push(marks[4]! - marks[0]!);
      if (kind !== 'named') continue;
      for (const [index, part] of ['publish', 'sample', 'forwardBackward', 'optimStep'].entries())
        times[part]!.push(marks[index + 1]! - marks[index]!);
    }
  }
  await engine.close();
  await listening.close();
  await rm(folder, { recursive: true, force: true });
  const median = (name: string): number => times[name]!.sort((a, b) => a - b)[times[name]!.length >> 1]!;
  const rounded = (ms: number): number => Math.round(10 * ms) / 10;
  return {
    stepSeconds: Math.round(median('named')) / 1000,
    chainRuleStepSeconds: Math.round(median('chainRule')) / 1000,
    partsMs: {
      publish: rounded(median('publish')),
      sample: rounded(median('sample')),
      forwardBackward: rounded(median('forwardBackward')),
      optimStep: rounded(median('optimStep')),
    },
  };
}
