/**
 * Whether learning suffers where acting runs ahead: success while learning at equal episodes, synchronous and stale by 1, and
 * stale by 8 as a control, which must suffer for the comparison to show anything. No arm corrects for staleness.
 */

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Rng } from '../../src/core/rng.ts';
import { mean } from '../../src/core/statistics.ts';
import { comparePaired, jointInterval } from '../../src/evidence/paired.ts';
import type { TrainSettings } from '../../src/train/config/config.ts';
import { chain } from '../methods/environments/chain.ts';
import { trainRun } from '../methods/train-run.ts';

/** Finished runs lie here, so that an interrupted bench goes on. */
const file = join(process.cwd(), 'bench', 'asynchrony', 'learning.json');

const arms = { synchronous: 0, 'stale by 1': 1, 'stale by 8': 8 } as const;
type Arm = keyof typeof arms;

/** The plain policy gradient takes every episode for the policy's own. */
const settings = {
  steps: 80,
  rollout: { batching: 'continuous' },
  objective: { name: 'policy-gradient' },
  optimizer: { learningRate: 3e-4 },
} as const satisfies TrainSettings;
const doors = { doors: 4, turns: 10, words: 4 } as const;
const setup = { environment: { chain: doors }, recipe: 'grpo', settings };

/** How much lower the area may be. */
const MARGIN = 0.02;

interface LearningRun {
  readonly arm: Arm;
  readonly seed: number;
  /** Mean success of the training episodes of all steps. */
  readonly area: number;
  /** Success on 200 held-out tasks at the end. */
  readonly final: number;
  /** Mean over steps of the age of the oldest completion, in versions. */
  readonly staleness: number;
}

/** @param again forget the runs that are kept */
export async function benchLearning({ seeds = 12, again = false } = {}): Promise<object> {
  if (again) rmSync(file, { force: true });
  const runs = keptRuns();
  // Seed by seed, so that those of an interrupted bench are paired.
  for (let seed = 1; seed <= seeds; seed++) {
    for (const arm of Object.keys(arms) as Arm[]) {
      if (runs.some((run) => run.arm === arm && run.seed === seed)) continue;
      const run = await learn(arm, seed);
      runs.push(run);
      keep(runs);
      process.stderr.write(`${arm}, seed ${seed}: ${JSON.stringify(run)}\n`);
    }
  }
  return report(runs.filter(({ seed }) => seed <= seeds));
}

async function learn(arm: Arm, seed: number): Promise<LearningRun> {
  const { summary, steps } = await trainRun({
    environment: chain(doors),
    recipe: setup.recipe,
    seed,
    settings: { ...settings, batches: { maxStaleness: arms[arm] } },
  });
  return {
    arm,
    seed,
    area: mean(steps.map((metrics) => metrics['reward/success']!)),
    final: summary.after.sampled.success,
    staleness: mean(steps.map((metrics) => metrics['policy/staleness'] ?? 0)),
  };
}

function report(runs: readonly LearningRun[]): object {
  const of = (arm: Arm, figure: 'area' | 'final' | 'staleness'): number[] =>
    runs.filter((run) => run.arm === arm).map((run) => run[figure]);
  const against = (arm: Arm): object => {
    const compared = comparePaired(
      [{ first: { values_S: of(arm, 'area') }, second: { values_S: of('synchronous', 'area') } }],
      { rng: Rng.of('asynchrony', arm) },
    );
    const { low, high } = jointInterval(compared);
    return {
      difference: rounded(compared.mean),
      interval: [rounded(low), rounded(high)],
      p: compared.p,
      verdict: low > -MARGIN ? `no worse than by ${MARGIN}` : high < 0 ? 'worse' : 'undecided',
    };
  };
  return {
    seeds: of('synchronous', 'area').length,
    arms: Object.fromEntries(
      (Object.keys(arms) as Arm[]).map((arm) => [
        arm,
        {
          area: rounded(mean(of(arm, 'area'))),
          final: rounded(mean(of(arm, 'final'))),
          staleness: rounded(mean(of(arm, 'staleness'))),
        },
      ]),
    ),
    'stale by 1 minus synchronous, area': against('stale by 1'),
    'stale by 8 minus synchronous, area': against('stale by 8'),
  };
}

const rounded = (value: number): number => Number(value.toFixed(4));

/** Those of the same settings. */
function keptRuns(): LearningRun[] {
  if (!existsSync(file)) return [];
  const kept = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly setup: object;
    readonly runs: LearningRun[];
  };
  if (JSON.stringify(kept.setup) === JSON.stringify(setup)) return kept.runs;
  throw new Error(`${file} holds runs of other settings: add --again to begin anew`);
}

function keep(runs: readonly LearningRun[]): void {
  const lines = runs.map((run) => JSON.stringify(run)).join(',\n');
  writeFileSync(file, `{"setup": ${JSON.stringify(setup)},\n"runs": [\n${lines}\n]}\n`);
}
