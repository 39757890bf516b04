/** `npm run bench -- engine [PART …]|rollout|memory|size [CASE]|credit [NAME …]|methods [NAME …] [--seeds A..B]|store|tinker|view [--pairs N]|stream MODEL|browser [THREADS …]|env-server|gateway|horizon [CONTEXT …]|asynchrony [PART …]|sandbox|product [COUNT [FROM [SEED]]]|worlds [NAME[:SETTING,…] …] [--seeds N] [--report]|steps [NAME …] [--report]|lmrl [TASK|METHOD|TASK/METHOD …] [--seconds N] [--most N] [--again] [--report]|families [--steps N]|soak [MINUTES] [PART …] [--json]`: figures with the machine they were seen on. */

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

const { values, positionals } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    seeds: { type: 'string' },
    report: { type: 'boolean', default: false },
    again: { type: 'boolean', default: false },
    steps: { type: 'string' },
    threads: { type: 'string' },
    seconds: { type: 'string' },
    pairs: { type: 'string' },
    most: { type: 'string' },
  },
  allowPositionals: true,
});
const benches: Readonly<Record<string, (parts: readonly string[]) => Promise<object>>> = {
  engine: benchEngine,
  rollout: benchRollout,
  memory: () => benchMemory(),
  size: async (names) => benchSize(names),
  credit: async (names) => ({ credit4096x50: benchCredit(names) }),
  store: () => benchStore(),
  tinker: () => benchTinker(),
  view: () => benchView(numbersOf({ pairs: values.pairs, steps: values.steps })),
  browser: benchBrowser,
  stream: (names) => benchStream(names, Number(values.threads ?? 2)),
  'env-server': benchEnvironmentServer,
  gateway: () => benchGateway(),
  horizon: benchHorizon,
  sandbox: () => benchSandbox(),
  soak: benchSoak,
  product: benchProduct,
  asynchrony: (names) =>
    benchAsynchrony(names, {
      again: values.again,
      ...numbersOf({
        seeds: values.seeds,
        steps: values.steps,
        threads: values.threads,
        seconds: values.seconds,
      }),
    }),
  worlds: (names) =>
    benchLearning(names, {
      report: values.report,
      ...(values.seeds !== undefined && { seeds: Number(values.seeds) }),
    }),
  lmrl: (names) =>
    benchLmrl(names, {
      ...{ report: values.report, again: values.again },
      ...numbersOf({ seconds: values.seconds, most: values.most }),
    }),
  families: (names) => benchFamilies(names, numbersOf({ steps: values.steps })),
  steps: async (names) => {
    const seen = values.report ? {} : await benchSpeed(names);
    return { ...seen, page: writeFigures(new URL('../../', import.meta.url).pathname) };
  },
  methods: (names) =>
    benchMethods(names, {
      report: values.report,
      ...(values.seeds !== undefined && { seeds: parseSeeds(values.seeds) }),
    }),
};

/** Options that were given, as numbers. */
function numbersOf(given: Readonly<Record<string, string | undefined>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, text]) => (text === undefined ? [] : [[name, Number(text)]])),
  );
}

const bench = benches[positionals[0] ?? ''];
if (!bench) {
  process.stderr.write(`Name a benchmark: ${Object.keys(benches).join(', ')}\n`);
  process.exit(2);
}
const result = { machine, ...(await bench(positionals.slice(1))) };
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
