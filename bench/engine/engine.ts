/** The embedded engine beside eager PyTorch, in turns, so that whatever else the machine does falls on both. */

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { DecoderShape } from '../../src/model/decoder/decoder.ts';
import type { Arrangement } from './adapters.ts';
import { benchChoosing } from './choosing.ts';
import { benchDecoding } from './decoding.ts';
import type { LoraBench } from './lora.ts';
import { hasPytorch, pytorch } from './peers.ts';
import { benchPretrained } from './pretrained.ts';
import { benchDemo, benchLongCompletions, median } from './sampling.ts';
import { large, medium, small } from './shapes.ts';
import { benchShares } from './shares.ts';
import { benchTraining } from './training.ts';
import { benchTrees } from './tree.ts';

const threads = 2;

/** `ratio` is the median over the pairs; absent where PyTorch is not installed. */
interface Comparison {
  readonly tokensPerSecond: number;
  readonly pytorch?: number;
  readonly ratio?: number;
}

async function compare(
  name: string,
  pairs: number,
  ours: () => Promise<number>,
  request: object,
): Promise<Comparison> {
  const figures: number[] = [];
  const peers: number[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    process.stderr.write(`${name} ${pair + 1}/${pairs}\n`);
    figures.push(await ours());
    if (hasPytorch) peers.push(pytorch({ threads, ...request }).tokensPerSecond);
  }
  return {
    tokensPerSecond: Math.round(median(figures)),
    ...(hasPytorch && {
      pytorch: Math.round(median(peers)),
      ratio: round(median(figures.map((figure, pair) => figure / peers[pair]!))),
    }),
  };
}

const training = (name: string, shape: DecoderShape, pairs: number, steps: number): Promise<Comparison> => {
  const work = { shape, rows: 8, tokens: 256, steps, threads };
  const ours = async (): Promise<number> => (await benchTraining(work)).tokensPerSecond;
  return compare(`training ${name}`, pairs, ours, { task: 'train', ...work });
};

const sampling = (rows: number): Promise<Comparison> => {
  const ours = async (): Promise<number> =>
    (await benchLongCompletions(small, rows, 3, threads)).sampledTokensPerSecond;
  const request = { task: 'sample', shape: small, rows, tokens: 256, steps: 3 };
  return compare(`sampling ${rows} rows`, 3, ours, request);
};

const parts = {
  training: async (): Promise<object> => {
    const smallTraining = await training('3.4M', small, 5, 10);
    return {
      trainingTokensPerSecond: smallTraining.tokensPerSecond,
      training: { '3.4M': smallTraining, '29M': await training('29M', medium, 5, 5) },
    };
  },
  sampling: async (): Promise<object> => {
    const rows = { 1: await sampling(1), 32: await sampling(32), 128: await sampling(128) };
    return {
      samplingTokensPerSecond: Object.fromEntries(
        Object.entries(rows).map(([count, { tokensPerSecond }]) => [count, tokensPerSecond]),
      ),
      sampling: rows,
    };
  },
  choosing: async (): Promise<object> => {
    const choosing = Object.entries(benchChoosing());
    return { choosingMsPerToken: Object.fromEntries(choosing.map(([way, ms]) => [way, round(ms, 3)])) };
  },
  shares: async (): Promise<object> => {
    const { sampling: shortTurns, publishMs } = await benchDemo(3, threads);
    const shares = Object.entries(await benchShares(threads));
    return {
      demo: {
        forwardTokensPerSecond: Math.round(shortTurns.forwardTokensPerSecond),
        publishMs: round(publishMs),
      },
      shares: Object.fromEntries(shares.map(([name, share]) => [name, round(share, 4)])),
    };
  },
  tree: async (): Promise<object> => ({ 'groups of eight, answers of 40': await benchTrees(threads) }),
  adapters: async (): Promise<object> => ({ 'learners with adapters over 29M': benchAdapters() }),
  pretrained: async (): Promise<object> => ({
    sampling: await benchDecoding(threads),
    pretrained: await benchPretrained(threads),
  }),
  lora: async (): Promise<object> => ({ 'qwen3-0.6B shape, LoRA rank 16, 4 x 512 tokens': benchLora() }),
};

/** @param chosen names of parts; none means all */
export async function benchEngine(chosen: readonly string[]): Promise<object> {
  const wrong = chosen.find((name) => !(name in parts));
  if (wrong)
    throw new Error(`The engine benchmark has no part "${wrong}", but ${Object.keys(parts).join(', ')}`);
  const result = {};
  for (const [name, part] of Object.entries(parts)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    process.stderr.write(`${name}\n`);
    Object.assign(result, await part());
  }
  return { ...result, peakResidentMegabytes: Math.round(process.resourceUsage().maxRSS / 1024) };
}

/** Resident megabytes of a process with one learner, with two over one base, and with two that load it each. */
function benchAdapters(): object {
  const script = fileURLToPath(new URL('./adapters.js', import.meta.url));
  const megabytesOf = (arrangement: Arrangement): number =>
    JSON.parse(execFileSync(process.execPath, [script, arrangement], { encoding: 'utf8' })).megabytes;
  const [one, shared, apart] = [megabytesOf('one'), megabytesOf('shared'), megabytesOf('apart')];
  const megabytes = { one, twoOverOneBase: shared, twoWithABaseEach: apart };
  return Object.fromEntries(Object.entries(megabytes).map(([name, figure]) => [name, Math.round(figure)]));
}

function benchLora(): object {
  const script = fileURLToPath(new URL('./lora.js', import.meta.url));
  const ours: LoraBench = JSON.parse(execFileSync(process.execPath, [script], { encoding: 'utf8' }));
  const peer = hasPytorch
    ? pytorch({
        threads,
        task: 'lora',
        shape: large,
        rank: 16,
        rows: 4,
        rowsPerPass: 1,
        tokens: 512,
        steps: 1,
        warmUpSteps: 1,
      })
    : undefined;
  return {
    tokensPerSecond: round(ours.tokensPerSecond),
    stepSeconds: round(ours.stepSeconds),
    loadSeconds: round(ours.loadSeconds),
    peakResidentMegabytes: Math.round(ours.peakResidentMegabytes),
    losses: ours.losses.map((loss) => round(loss, 4)),
    ...(peer && {
      pytorch: {
        tokensPerSecond: round(peer.tokensPerSecond),
        peakResidentMegabytes: peer.peakResidentMegabytes,
      },
      ratio: round(ours.tokensPerSecond / peer.tokensPerSecond),
    }),
  };
}

function round(figure: number, digits = 2): number {
  return Number(figure.toFixed(digits));
}
