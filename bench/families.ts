/**
 * One policy over four families of environments by `mix`, with a curve for each. What the run showed is kept in
 * bench/families.json, and docs/families.md is written from it.
 */

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { sparkline } from '../src/show/sparkline.ts';

const repository = new URL('../../', import.meta.url).pathname;
const kept = join(repository, 'bench/families.json');
const page = join(repository, 'docs/families.md');
const main = new URL('../src/cli/main.js', import.meta.url).pathname;

/** A family by its world: grids, search, reckoning with cards, inference. */
const FAMILIES = ['frozen-lake', 'guess-number', 'ezpoints', 'bandits'] as const;

/** Test episodes over all worlds, before and after. */
const EPISODES = 800;

const pointsSchema = z.array(z.object({ step: z.int(), success: z.number(), episodes: z.number() }));
const evaluationSchema = z.record(z.string(), z.number());
const resultSchema = z.object({
  command: z.string(),
  seconds: z.number(),
  steps: z.int(),
  curves: z.record(z.string(), pointsSchema),
  before: evaluationSchema,
  after: evaluationSchema,
});
type Result = z.output<typeof resultSchema>;

export async function benchFamilies(
  names: readonly string[],
  { steps = 240 }: { readonly steps?: number },
): Promise<object> {
  if (names[0] !== 'report') writeFileSync(kept, `${JSON.stringify(await run(steps), null, 2)}\n`);
  if (existsSync(kept)) writeFileSync(page, familiesPage(readFamilies(kept)));
  return { page: 'docs/families.md' };
}

export const readFamilies = (file: string): Result =>
  resultSchema.parse(JSON.parse(readFileSync(file, 'utf8')));

async function run(steps: number): Promise<Result> {
  const runs = mkdtempSync(join(tmpdir(), 'turnwise-families-'));
  const world = `mix:${FAMILIES.map((family) => `${family}=1`).join(',')}`;
  const settings = [
    ...['seed=1', 'threads=1', `steps=${steps}`, 'rollout.tasks=16', 'rollout.group=8'],
    ...['clone.demonstrations=1600', 'clone.randomRate=0.2', 'clone.steps=300'],
    ...['model.width=48', 'model.layers=2', 'model.hidden=128', 'optimizer.learningRate=1e-3'],
    ...['evaluation.every=0', `evaluation.finalTasks=${EPISODES}`, `evaluation.tasks=${EPISODES}`],
  ].flatMap((setting) => ['--set', setting]);
  const words = ['train', world, '--recipe', 'grpo', ...settings];
  const began = performance.now();
  try {
    const code = await new Promise((resolve) => {
      spawn(process.execPath, [main, ...words, '--runs', runs, '--name', 'run', '--json'], {
        stdio: ['ignore', 'ignore', 'inherit'],
      }).on('close', resolve);
    });
    if (code !== 0) throw new Error(`turnwise ended with code ${String(code)}`);
    const events = readFileSync(join(runs, 'run', 'events.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map(
        (line) =>
          JSON.parse(line) as {
            type: string;
            step?: number;
            label?: string;
            metrics?: Record<string, number>;
            sampled?: { metrics?: Record<string, number> };
          },
      );
    const evaluated = (label: string): Record<string, number> => {
      const { metrics = {} } = events.find((event) => event.label === label)?.sampled ?? {};
      return Object.fromEntries(
        FAMILIES.map((family) => [family, metrics[`env/${family}/success`] ?? Number.NaN]),
      );
    };
    return {
      command: `turnwise ${words.join(' ')}`,
      seconds: (performance.now() - began) / 1000,
      steps,
      curves: Object.fromEntries(
        FAMILIES.map((family) => [
          family,
          events.flatMap(({ type, step, metrics = {} }) => {
            const success = metrics[`env/${family}/success`];
            if (type !== 'step' || step === undefined || success === undefined) return [];
            return [{ step, success, episodes: metrics[`env/${family}/episodes`] ?? 0 }];
          }),
        ]),
      ),
      before: evaluated('before'),
      after: evaluated('after'),
    };
  } finally {
    rmSync(runs, { recursive: true, force: true });
  }
}

export function familiesPage({ command, seconds, steps, curves, before, after }: Result): string {
  const rows = Object.entries(curves).map(([family, points]) => {
    const successes = points.map(({ success }) => success);
    const mean = (some: readonly number[]): string =>
      (some.reduce((sum, one) => sum + one, 0) / Math.max(1, some.length)).toFixed(2);
    const third = Math.ceil(successes.length / 3);
    return `| \`${family}\` | ${before[family]!.toFixed(2)} | ${[
      mean(successes.slice(0, third)),
      mean(successes.slice(third, 2 * third)),
      mean(successes.slice(2 * third)),
    ].join(' | ')} | ${after[family]!.toFixed(2)} | \`${sparkline(successes, 24, [0, 1])}\` |`;
  });
  return `# One policy over four families

\`npm run bench -- families [--steps N]\` writes this page: one small word model learns ${Object.keys(curves).length} worlds at once by a [mix](write-an-environment.md#a-mix-of-environments), each
with a curve of its own. One seed, ${steps} steps, ${Math.round(seconds)} seconds with one thread on a loaded machine; nothing was tuned, and one seed shows no interval between seeds. Success on test
tasks is that of ${EPISODES} episodes over all worlds, sampled at temperature 1; in training, the mean over thirds of the steps. A world
has about ${EPISODES / FAMILIES.length} of these episodes, so a difference of less than 0.1 shows nothing.

| world | after imitation | first third | second | last | at the end | success by step |
| --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}

\`bandits\` is learned alone, in 30 steps ([learned worlds](learned-worlds.md)), and hardly here. With \`mastermind\` in its place the other three rose as well, and
mastermind fell from 0.09 to 0.00.

\`\`\`sh
${command}
\`\`\`
`;
}
