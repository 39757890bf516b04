/** `npm run bench -- engine|rollout|memory|env-server [--json]`: figures with the machine they were seen on. */

import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { benchSampling } from './engine-sampling.ts';
import { benchTraining } from './engine-training.ts';
import { benchEnvironmentServer } from './env-server.ts';
import { benchMemory } from './memory.ts';
import { benchRollout } from './rollout.ts';

const machine = {
  processor: cpus()[0]?.model ?? 'unknown',
  cores: availableParallelism(),
  node: process.version,
};

/** The same model in eager PyTorch, where `python3 -c "import torch"` works. */
function pytorch(): { tokensPerSecond: number; medianMs: number; version: string } | undefined {
  try {
    execFileSync('python3', ['-c', 'import torch'], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  return JSON.parse(execFileSync('python3', ['bench/pytorch.py'], { encoding: 'utf8' }));
}

/** Training in turns with PyTorch, so that whatever else the machine does falls on both. */
async function benchEngine(): Promise<object> {
  const ours: number[] = [];
  const theirs: number[] = [];
  let version: string | undefined;
  for (let pair = 0; pair < 3; pair++) {
    ours.push((await benchTraining()).tokensPerSecond);
    const peer = pytorch();
    if (peer) {
      theirs.push(peer.tokensPerSecond);
      version = peer.version;
    }
  }
  const training = median(ours);
  const sampling = await benchSampling();
  return {
    trainingTokensPerSecond: Math.round(training),
    pytorch: version
      ? {
          version,
          trainingTokensPerSecond: Math.round(median(theirs)),
          ratio: round(median(ours.map((figure, pair) => figure / theirs[pair]!))),
        }
      : 'not installed',
    samplingTokensPerSecond: Object.fromEntries(
      Object.entries(sampling.rows).map(([rows, figure]) => [
        rows,
        Math.round(figure.sampledTokensPerSecond),
      ]),
    ),
    demo: {
      forwardTokensPerSecond: Math.round(sampling.demo.forwardTokensPerSecond),
      publishMs: round(sampling.publishMs),
    },
    peakResidentMegabytes: Math.round(process.resourceUsage().maxRSS / 1024),
  };
}

const benches: Readonly<Record<string, () => Promise<object>>> = {
  engine: benchEngine,
  rollout: async () => ({ maze40: await benchRollout() }),
  memory: benchMemory,
  'env-server': benchEnvironmentServer,
};

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
}

function round(figure: number): number {
  return Math.round(100 * figure) / 100;
}

const { values, positionals } = parseArgs({
  options: { json: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const bench = benches[positionals[0] ?? ''];
if (!bench) {
  process.stderr.write(`Name a benchmark: ${Object.keys(benches).join(', ')}\n`);
  process.exit(2);
}
const result = { machine, ...(await bench()) };
if (values.json) {
  process.stdout.write(`${JSON.stringify(result)}\n`);
} else {
  process.stdout.write(
    `${JSON.stringify(result, null, 2)
      .replace(/[{}",]/g, '')
      .replace(/\n\s*\n/g, '\n')}\n`,
  );
}
process.exit(0);
