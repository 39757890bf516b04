/** Runs of a few steps in a small world, and whether their stored files give the advantages that they used. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { chain } from '../../bench/methods/environments/chain.ts';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { creditCommand } from '../../src/cli/commands/credit.ts';
import { memoryConsole, noInterrupts } from '../../src/cli/testing-console.test-helper.ts';
import type { Episode, Group } from '../../src/core/episode.ts';
import type { Json } from '../../src/core/json/json.ts';
import { roleGroups } from '../../src/core/trajectory.ts';
import type { CreditReport } from '../../src/credit/report/report.ts';
import { defineEnvironment, type RunSettings, train } from '../../src/exports/index.ts';
import { readEpisodeFile } from '../../src/store/rollouts/read-episodes.ts';

export const folder: string = mkdtempSync(join(tmpdir(), 'turnwise-own-methods-'));
export const removeRuns = (): void => rmSync(folder, { recursive: true, force: true });

const STEPS = 4;

/** Two doors of two words, in up to four turns; a state says how many turns are over, so that places are told apart. */
const doors = defineEnvironment(chain({ doors: 2, turns: 4, words: 2 }));

export const tiny: RunSettings = {
  seed: 3,
  steps: STEPS,
  threads: 1,
  model: { width: 8, layers: 1, heads: 1, hidden: 8 },
  clone: { demonstrations: 24, steps: 12, batch: 8, randomRate: 1, learningRate: 2e-2 },
  rollout: { tasks: 4, group: 6 },
  evaluation: { every: 0, finalTasks: 1 },
  checkpoint: { every: 2 },
};

export interface Ran {
  /** Groups of each step, as they are stored. */
  readonly steps: readonly (readonly Group[])[];
  readonly memory: Readonly<Record<'tasks' | 'turns' | 'curation', Json>>;
}

export const shard = (name: string, step: number): string =>
  join(folder, name, 'rollouts', `${step}.jsonl.gz`);

export async function ran(name: string, settings: RunSettings, recipe = 'grpo'): Promise<Ran> {
  await train({ world: doors, recipe, name, runs: folder, settings: { ...tiny, ...settings } });
  const steps = Array.from({ length: STEPS }, (_, step) => readEpisodeFile(shard(name, step + 1))!.groups);
  const checkpoint = join(folder, name, 'checkpoints', String(STEPS), 'state.json');
  const { state } = JSON.parse(readFileSync(checkpoint, 'utf8')) as {
    readonly state: { readonly memory: Ran['memory'] };
  };
  return { steps, memory: state.memory };
}

/** `turnwise credit` on every stored step gives the advantages that the run used. */
export async function expectSameCredit(name: string, steps = STEPS): Promise<void> {
  for (let step = 1; step <= steps; step++) {
    const console = memoryConsole();
    const code = await runCommandLine(['credit', '--rollouts', shard(name, step), '--json'], {
      ...{ commands: [creditCommand], version: '0', console, interrupts: noInterrupts },
    });
    expect([code, console.errors()]).toEqual([0, '']);
    const { trajectories } = JSON.parse(console.output()) as CreditReport;
    const stored = roleGroups(readEpisodeFile(shard(name, step))!.groups)
      .flatMap(({ members }) => members)
      .filter(({ turns }) => turns.length > 0);
    expect(trajectories.map(({ id }) => id)).toEqual(stored.map(({ id }) => id));
    for (const [index, { excluded, turns }] of trajectories.entries()) {
      const credit = stored[index]!.episode.credit?.agent;
      expect(excluded).toBe(credit?.inBaseline ? undefined : true);
      if (!credit) continue;
      expect(credit.trainedIn).toBe(step);
      expect(turns.map(({ advantage }) => advantage)).toEqual(credit.advantages_K.map((own) => own + 0));
    }
  }
}

export const episodesOf = ({ steps }: Ran): Episode[] =>
  steps.flatMap((groups) => groups.flatMap(({ members }) => members));
