/** `npm run bench -- NAME`: figures with the machine they were seen on. `--help` lists what there is. */

import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { parseSeeds } from '../src/compare/seed-list.ts';
import { benchAsynchrony } from './asynchrony/asynchrony.ts';
import { benchBrowser } from './browser.ts';
import { benchCredit } from './credit.ts';
import { benchEngine } from './engine/engine.ts';
import { benchEnvironmentServer } from './env-server.ts';
import { benchFamilies } from './families.ts';
import { benchGateway } from './gateway.ts';
import { benchHorizon } from './horizon.ts';
import { benchLmrl } from './lmrl/lmrl.ts';
import { benchMemory } from './memory.ts';
import { benchMethods } from './methods/main.ts';
import { benchProduct } from './product/product.ts';
import { benchRollout } from './rollout.ts';
import { benchSandbox } from './sandbox.ts';
import { benchSize } from './size.ts';
import { benchSoak } from './soak/soak.ts';
import { benchStore } from './store.ts';
import { benchStream } from './stream.ts';
import { benchTinker } from './tinker.ts';
import { benchView } from './view.ts';
import { writeFigures } from './worlds/figures.ts';
import { benchLearning } from './worlds/learning.ts';
import { benchSpeed } from './worlds/speed.ts';

const machine = {
  processor: cpus()[0]?.model ?? 'unknown',
  cores: availableParallelism(),
  node: process.version,
};

const OPTIONS = {
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
  seeds: { type: 'string' },
  report: { type: 'boolean', default: false },
  again: { type: 'boolean', default: false },
  steps: { type: 'string' },
  threads: { type: 'string' },
  seconds: { type: 'string' },
  pairs: { type: 'string' },
  most: { type: 'string' },
} as const;

const { values, positionals } = readArguments();

interface Bench {
  /** What may follow its name. */
  readonly takes?: string;
  readonly shows: string;
  readonly run: (names: readonly string[]) => Promise<object>;
}

const BENCHES: Readonly<Record<string, Bench>> = {
  engine: {
    takes: '[PART …]',
    shows: 'sampling and training beside PyTorch and llama.cpp, in turns',
    run: benchEngine,
  },
  rollout: { shows: 'what driving episodes costs when the policy is free', run: benchRollout },
  memory: { shows: 'whether memory stays flat over ten thousand updates', run: () => benchMemory() },
  size: {
    takes: '[CASE]',
    shows: 'what long conversations take in memory',
    run: async (names) => benchSize(names),
  },
  credit: {
    takes: '[NAME …]',
    shows: 'what credit costs: every method on 4,096 trajectories of 50 turns',
    run: async (names) => ({ credit4096x50: benchCredit(names) }),
  },
  methods: {
    takes: '[NAME …] [--seeds A..B] [--report]',
    shows: 'experiments about methods: docs/evidence.md',
    run: (names) =>
      benchMethods(names, {
        report: values.report,
        ...(values.seeds !== undefined && { seeds: parseSeeds(values.seeds) }),
      }),
  },
  worlds: {
    takes: '[NAME[:SETTING,…] …] [--seeds N] [--report]',
    shows: 'environments learned as they are shipped: docs/learned-worlds.md',
    run: (names) =>
      benchLearning(names, {
        report: values.report,
        ...(values.seeds !== undefined && { seeds: Number(values.seeds) }),
      }),
  },
  steps: {
    takes: '[NAME …] [--report]',
    shows: 'steps a second beside originals: docs/environment-figures.md',
    run: async (names) => {
      const seen = values.report ? {} : await benchSpeed(names);
      return { ...seen, page: writeFigures(new URL('../../', import.meta.url).pathname) };
    },
  },
  lmrl: {
    takes: '[TASK|METHOD|TASK/METHOD …] [--seconds N] [--most N] [--again] [--report]',
    shows: "LMRL-Gym's table: docs/lmrl-gym.md",
    run: (names) =>
      benchLmrl(names, {
        ...{ report: values.report, again: values.again },
        ...numbersOf({ seconds: values.seconds, most: values.most }),
      }),
  },
  families: {
    takes: '[--steps N]',
    shows: 'one policy over four families of environments: docs/families.md',
    run: (names) => benchFamilies(names, numbersOf({ steps: values.steps })),
  },
  horizon: {
    takes: '[CONTEXT …]',
    shows: 'whether an episode of 600 turns stays cheap',
    run: benchHorizon,
  },
  asynchrony: {
    takes: '[PART …] [--seeds N] [--steps N] [--threads N] [--seconds N] [--again]',
    shows: 'what acting and learning at once gains, and costs',
    run: (names) =>
      benchAsynchrony(names, {
        again: values.again,
        ...numbersOf({
          seeds: values.seeds,
          steps: values.steps,
          threads: values.threads,
          seconds: values.seconds,
        }),
      }),
  },
  sandbox: { shows: 'an innocent call beside 20 that loop', run: () => benchSandbox() },
  store: { shows: 'what stored episodes cost to write, find and read', run: () => benchStore() },
  gateway: { shows: 'what the gateway adds to a completion', run: () => benchGateway() },
  stream: {
    takes: 'MODEL [--threads N]',
    shows: 'time to the first byte of an answer',
    run: (names) => benchStream(names, Number(values.threads ?? 2)),
  },
  tinker: { shows: 'a step of training over HTTP on one machine', run: () => benchTinker() },
  'env-server': { shows: 'a thousand sessions on one environment server', run: benchEnvironmentServer },
  view: {
    takes: '[--pairs N] [--steps N]',
    shows: 'what the viewer costs, and what it takes from a training',
    run: () => benchView(numbersOf({ pairs: values.pairs, steps: values.steps })),
  },
  browser: {
    takes: '[THREADS …]',
    shows: 'what a browser takes to learn frozen-lake beside Node',
    run: benchBrowser,
  },
  soak: {
    takes: '[MINUTES] [training|servers|disturbed …]',
    shows: 'whether memory stays flat and runs go on for long',
    run: benchSoak,
  },
  product: {
    takes: '[COUNT [FROM [SEED]]]',
    shows: 'many random configurations, one after another',
    run: benchProduct,
  },
};

function readArguments() {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch (error) {
    // What Node says of an unknown option names it; where it was thrown helps nobody.
    process.stderr.write(
      `${error instanceof Error ? error.message : String(error)}\nnpm run bench -- --help lists what there is.\n`,
    );
    process.exit(2);
  }
}

function help(): string {
  const lines = Object.entries(BENCHES).map(
    ([name, { takes, shows }]) =>
      `  ${name.padEnd(11)} ${shows}${takes === undefined ? '' : `\n    ${takes}`}`,
  );
  return `Measure the product on this machine\n\nUsage  npm run bench -- NAME [OPTIONS] [--json]\n\n${lines.join('\n')}\n`;
}

/** Options that were given, as numbers. */
function numbersOf(given: Readonly<Record<string, string | undefined>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, text]) => (text === undefined ? [] : [[name, Number(text)]])),
  );
}

if (values.help) {
  process.stdout.write(help());
  process.exit(0);
}
const name = positionals[0];
const bench = name === undefined ? undefined : BENCHES[name];
if (!bench) {
  const wrong = name === undefined ? '' : `There is no benchmark "${name}".\n\n`;
  process.stderr.write(`${wrong}${help()}`);
  process.exit(2);
}
const result = { machine, ...(await bench.run(positionals.slice(1))) };
if (values.json) {
  process.stdout.write(`${JSON.stringify(result)}\n`);
} else {
  process.stdout.write(
    `${JSON.stringify(result, null, 2)
      .replace(/[{}",]/g, '')
      .replace(/\n\s*\n/g, '\n')}\n`,
  );
}
process.exit(process.exitCode ?? 0);
