/** LMRL-Gym's comparison: offline and online methods on episodes of mixed players. Results are kept in bench/lmrl/results. */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { measurePlayer } from '../../src/env/play.ts';
import type { World } from '../../src/env/world.ts';
import { unwatched } from '../../src/rollout/watch.ts';
import { createWorld, findEnvironment } from '../../src/run/load/environments.ts';
import { demonstrate } from '../../src/synth/demonstrations.ts';
import { commit, trained } from '../worlds/learning.ts';
import { lmrlPage } from './page.ts';
import { ARMS, DATA, type LmrlTask, METHODS, TASKS } from './tasks.ts';

const repository = new URL('../../../', import.meta.url).pathname;
const folder = join(repository, 'bench/lmrl/results');
const page = 'docs/lmrl-gym.md';
const EXPERT_EPISODES = 200;

const resultSchema = z.object({
  task: z.string(),
  commit: z.string(),
  least: z.number(),
  /** Mean return of the recorded episodes. */
  average: z.number(),
  /** Mean return of the expert. */
  most: z.number(),
  /** Mean return of each seed after training. */
  scores: z.partialRecord(z.enum(ARMS), z.array(z.number())),
  failed: z.array(z.string()),
});
export type LmrlResult = z.output<typeof resultSchema>;

export async function benchLmrl(
  names: readonly string[],
  { seeds = 3, report }: { readonly seeds?: number; readonly report: boolean },
): Promise<object> {
  const unknown = names.filter((name) => TASKS[name] === undefined);
  if (unknown.length > 0)
    throw new RangeError(`No task ${unknown.join(', ')}; there are ${Object.keys(TASKS).join(', ')}`);
  if (!report)
    for (const name of names.length > 0 ? names : Object.keys(TASKS))
      await compare(name, TASKS[name]!, seeds);
  const results = readLmrl(folder);
  writeFileSync(join(repository, page), lmrlPage(results));
  return { tasks: results.length, page };
}

export function readLmrl(from: string): LmrlResult[] {
  mkdirSync(from, { recursive: true });
  const files = readdirSync(from).filter((file) => file.endsWith('.json'));
  return files.map((file) => resultSchema.parse(JSON.parse(readFileSync(join(from, file), 'utf8'))));
}

async function compare(name: string, task: LmrlTask, seeds: number): Promise<void> {
  const options = task.settings.map((setting) => setting.replace(/^environment\./, ''));
  const world = createWorld(await findEnvironment(task.environment), options);
  const { outcome } = await measurePlayer(world, 'expert', EXPERT_EPISODES);
  const result: LmrlResult = {
    ...{ task: name, commit: commit(), least: task.least, average: await averageOf(world), most: outcome },
    ...{ scores: {}, failed: [] },
  };
  for (const arm of ARMS) {
    const { recipe, settings } = METHODS[arm];
    const scores: number[] = [];
    for (let seed = 1; seed <= seeds; seed++) {
      const run = await trained(
        task.environment,
        seed,
        ['--recipe', recipe],
        [...task.settings, ...settings],
      );
      if ('reason' in run) result.failed.push(`${arm}, seed ${seed}: ${run.reason}`);
      else scores.push(run.result.after.return);
      process.stderr.write(
        `${name}, ${arm}, seed ${seed}: ${'reason' in run ? run.reason : scores.at(-1)}\n`,
      );
    }
    result.scores[arm] = scores;
    // What is done is kept, whatever comes next.
    writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(result, null, 2)}\n`);
  }
}

/** Mean return of what the players of seed 1 record. */
async function averageOf(world: World): Promise<number> {
  const groups = await demonstrate(world, {
    ...{ ...DATA, seed: 1, maxTurns: world.maxTurns, turnTimeoutMs: 60_000 },
    ...{ signal: new AbortController().signal, watch: unwatched },
  });
  const returns = groups.flatMap(({ members }) =>
    members.map((episode) => episode.outcome[world.roles[0]!] ?? 0),
  );
  return returns.reduce((sum, value) => sum + value, 0) / returns.length;
}
