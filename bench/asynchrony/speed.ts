/**
 * What is gained where acting and learning overlap: the embedded engine with a delay on each completion, synchronous and
 * stale by 1, beside what an event simulation of the same delays gives.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { world } from '../../envs/frozen-lake/index.ts';
import { Rng } from '../../src/core/rng.ts';
import { quantile } from '../../src/core/statistics.ts';
import { delegateTo } from '../../src/engine/delegate.ts';
import { conversationOf } from '../../src/rollout/sample-call.ts';
import type { TrainSettings } from '../../src/train/config/config.ts';
import type { Metrics } from '../../src/train/loop/events.ts';
import { learnerRun } from '../learner-run.ts';
import { simulate } from './simulation.ts';

const SLOTS = 64;
const [GROUPS, MEMBERS] = [32, 8] as const;
/** Steps in which graphs are built and the pipeline fills: not measured. */
const FIRST = 2;

const settings = (threads: number): TrainSettings => ({
  seed: 1,
  threads,
  model: { width: 64, layers: 2, heads: 2, hidden: 172 },
  clone: { demonstrations: 400, steps: 20 },
  rollout: {
    tasks: GROUPS,
    group: MEMBERS,
    concurrency: SLOTS,
    batching: 'continuous',
    turnTimeoutMs: 600_000,
  },
  // Hardly any rate: both arms play the same episodes, and only time differs. Many epochs: learning, not sampling, keeps
  // the machine busy, as where models are large.
  optimizer: { learningRate: 1e-12, epochs: 32 },
  evaluation: { every: 0, finalTasks: 1 },
  checkpoint: { every: 10_000 },
  rolloutLog: 1,
});

interface SpeedRun {
  /** Seconds at which each step was learned, since training began. */
  readonly learned: readonly number[];
  readonly metrics: readonly Metrics[];
  /** Of each step, the seconds that each episode was delayed, in the order in which they were asked for. */
  readonly delays: readonly (readonly number[])[];
  /** Seconds of processors over all steps: near `cores` for each second where the machine is the limit. */
  readonly cpu: number;
}

interface Arm {
  readonly steps: number;
  readonly maxStaleness: number;
  /** Of the delay of a completion, in seconds: lognormal with σ = 1. */
  readonly mean: number;
  readonly threads: number;
}

async function run({ steps, maxStaleness, mean, threads }: Arm): Promise<SpeedRun> {
  const learned: number[] = [];
  const metrics: Metrics[] = [];
  const delays: number[][] = [];
  const delayed = new Map<string, number>();
  let began: number | undefined;
  let cpu = process.cpuUsage();
  await learnerRun({
    world,
    recipe: 'grpo',
    settings: { ...settings(threads), steps, batches: { maxStaleness } },
    event: (event) => {
      if (event.type === 'phase' && event.phase === 'train') {
        began = performance.now();
        cpu = process.cpuUsage();
      }
      if (event.type !== 'step') return;
      learned.push((performance.now() - began!) / 1000);
      if (event.step === steps) cpu = process.cpuUsage(cpu);
      metrics.push(event.metrics);
      process.stderr.write(
        `staleness ${maxStaleness}, step ${event.step}: ${learned.at(-1)!.toFixed(1)} s\n`,
      );
    },
    episodes: (_, groups) => {
      const members = groups.flatMap((group) => group.members);
      const roles = members.map(({ key, outcome }) => conversationOf(key, Object.keys(outcome)[0]!));
      delays.push(roles.map((conversation) => delayed.get(conversation)!));
    },
    wrap: (engine) =>
      delegateTo(engine, {
        sample: async (request) => {
          const { conversation, seed } = request;
          const result = await engine.sample(request);
          if (began === undefined || learned.length === steps) return result;
          const delay = mean * Math.exp(Rng.of('delay', seed).normal() - 0.5);
          delayed.set(conversation, (delayed.get(conversation) ?? 0) + delay);
          await sleep(1000 * delay);
          return result;
        },
      }),
  });
  return { learned, metrics, delays, cpu: (cpu.user + cpu.system) / 1e6 };
}

/**
 * @param steps of each arm
 * @param threads of the engine
 */
export async function benchSpeed({ steps = 12, threads = 2 } = {}): Promise<object> {
  // With a delay of which all is known, a step without one tells how long learning takes, and what a mean of 1 s would come to.
  const probe = await run({ steps: FIRST + 3, maxStaleness: 0, mean: 1e-3, threads });
  const seconds = (metrics: readonly Metrics[], name: string): number =>
    quantile(
      metrics.slice(FIRST).map((step) => step[name]!),
      0.5,
    );
  const acting = seconds(probe.metrics, 'time/rollout_s');
  const learning = seconds(probe.metrics, 'time/train_s');
  const unit = quantile(
    probe.delays.slice(FIRST).map((step) => actingAlone(step) / 1e-3),
    0.5,
  );
  const mean = learning / unit;
  const arms = [];
  for (const maxStaleness of [0, 1]) arms.push(await run({ steps, maxStaleness, mean, threads }));
  const [synchronous, stale] = arms as [SpeedRun, SpeedRun];
  // Both ideals learn as long as the synchronous arm did.
  const alone = seconds(synchronous.metrics, 'time/train_s');
  const figuresOf = ({ learned, delays, metrics, cpu }: SpeedRun, maxStaleness: number) => {
    const ideal = simulate({ steps: delays, learning: alone, slots: SLOTS, maxStaleness });
    return {
      episodesPerSecond: speedOf(learned),
      ideal: speedOf(ideal),
      ofIdeal: speedOf(learned) / speedOf(ideal),
      actingSeconds: seconds(metrics, 'time/rollout_s'),
      learningSeconds: seconds(metrics, 'time/train_s'),
      busyCores: cpu / learned.at(-1)!,
    };
  };
  const before = figuresOf(synchronous, 0);
  const after = figuresOf(stale, 1);
  return {
    threads,
    meanDelayMilliseconds: 1000 * mean,
    withoutDelay: { actingSeconds: acting, learningSeconds: learning },
    synchronous: before,
    staleBy1: after,
    timesFaster: after.episodesPerSecond / before.episodesPerSecond,
    idealTimesFaster: after.ideal / before.ideal,
  };
}

/** Seconds that acting alone takes. */
const actingAlone = (delays: readonly number[]): number =>
  simulate({ steps: [delays], learning: 0, slots: SLOTS, maxStaleness: 0 })[0]!;

/** Episodes a second from the end of the first steps to the end of the last. */
function speedOf(learned: readonly number[]): number {
  const measured = learned.length - FIRST;
  return (measured * GROUPS * MEMBERS) / (learned.at(-1)! - learned[FIRST - 1]!);
}
