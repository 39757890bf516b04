/**
 * `npm run bench -- methods [NAME…]`: run experiments about methods, keep their results, rewrite what docs/ says of them. With
 * `--seeds 201..205` others repeat them: their figures are printed, and what is kept stays as it is.
 */

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSeeds } from '../../src/compare/seed-list.ts';
import { nearest } from '../../src/core/errors.ts';
import { compareArms } from './comparison.ts';
import type { Experiment, StoredResult, StoredRun } from './experiment.ts';
import { experiments } from './experiments.ts';
import { reportFiles } from './report.ts';

const results = join(process.cwd(), 'bench', 'methods', 'results');

/** Every experiment, or those named; none with `--report`, which only writes the pages and pictures anew. */
export async function benchMethods(
  names: readonly string[],
  options: { readonly seeds?: readonly number[]; readonly report?: boolean },
): Promise<object> {
  const chosen = names.length === 0 ? experiments : names.map(findExperiment);
  const compared: Record<string, object> = {};
  for (const experiment of options.report ? [] : chosen) {
    const result = await runAll(experiment, options.seeds ?? parseSeeds(String(experiment.seeds)));
    if (options.seeds === undefined) {
      mkdirSync(results, { recursive: true });
      writeFileSync(join(results, `${experiment.name}.json`), stored(result));
    }
    compared[experiment.name] = compareArms(experiment, result);
  }
  if (options.seeds === undefined) await writeReport(join(process.cwd(), 'docs'));
  return { methods: compared };
}

/** The pages, and the pictures in place of all that were there. */
async function writeReport(folder: string): Promise<void> {
  const files = await reportFiles(readResults());
  rmSync(join(folder, 'curves'), { recursive: true, force: true });
  for (const [name, content] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

/** The results that lie beside the experiments, by name. */
export function readResults(folder: string = results): ReadonlyMap<string, StoredResult> {
  return new Map(
    experiments.flatMap(({ name }) => {
      const file = join(folder, `${name}.json`);
      return existsSync(file) ? [[name, JSON.parse(readFileSync(file, 'utf8')) as StoredResult]] : [];
    }),
  );
}

async function runAll(experiment: Experiment, seeds: readonly number[]): Promise<StoredResult> {
  const runs: Record<string, StoredRun[]> = Object.fromEntries(experiment.arms.map((arm) => [arm, []]));
  // Seed by seed, so that what is there when it is stopped is paired.
  for (const seed of seeds) {
    for (const arm of experiment.arms) {
      const outcome = await experiment.run(arm, seed);
      runs[arm]!.push({ seed, ...outcome });
      process.stderr.write(`${experiment.name} ${arm} seed ${seed}: ${JSON.stringify(outcome.figures)}\n`);
    }
  }
  return { experiment: experiment.name, runs };
}

/** Four digits are enough for a page, and make differences of files readable. */
function stored(result: StoredResult): string {
  const rounded = JSON.stringify(result, (_key, value: unknown) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value,
  );
  return `${rounded.replaceAll('{"figures"', '\n{"figures"').replaceAll('{"seed"', '\n{"seed"')}\n`;
}

function findExperiment(name: string): Experiment {
  const found = experiments.find((experiment) => experiment.name === name);
  if (found) return found;
  const names = experiments.map((experiment) => experiment.name);
  const near = nearest(name, names);
  throw new Error(
    `There is no experiment "${name}". ${near ? `Did you mean "${near}"?` : `There are ${names.join(', ')}`}`,
  );
}
