/** Finished runs of a comparison, made up, for tests of what is told about them. */

import { armsOf } from '../../compare/arm.ts';
import { type Job, jobsOf } from '../../compare/jobs.ts';
import { prepareStudy, type Study } from '../../compare/study.ts';
import type { TestTasks } from '../../env/tasks/practised.ts';
import { findEnvironment } from '../../run/load/environments.ts';
import { RunDirectory } from '../../store/run-directory.ts';
import { evaluation } from '../example-run.test-helper.ts';

export interface Example {
  readonly study: Study;
  readonly jobs: readonly Job[];
}

export async function exampleStudy(
  root: string,
  recipes: readonly string[],
  seeds: number,
  worlds: readonly string[] = ['frozen-lake'],
): Promise<Example> {
  const study = prepareStudy({
    worlds: await Promise.all(worlds.map(findEnvironment)),
    arms: await armsOf(recipes, []),
    budget: { axis: 'steps', amount: 4 },
    set: [],
    name: 'example',
    root,
  });
  return { study, jobs: jobsOf(study, { seeds: Array.from({ length: seeds }, (_, index) => index + 1) }) };
}

/**
 * Runs whose evaluations were these successes, one a step, each step worth 100 environment steps and 1000 tokens.
 *
 * @param curves by world, arm and seed; runs that are not named never began
 * @param testTasks what the runs recorded of the tasks of their evaluations
 */
export function writeRuns(
  { study, jobs }: Example,
  curves: Readonly<Record<string, readonly number[]>>,
  testTasks: TestTasks = 'held-out',
): void {
  for (const { kind, name, world, arm, seed } of jobs) {
    const curve = kind === 'run' ? curves[`${world} ${arm} ${seed}`] : undefined;
    if (curve) writeRun(study.store, name, world, curve, testTasks);
  }
}

function writeRun(
  root: string,
  name: string,
  environment: string,
  curve: readonly number[],
  testTasks: TestTasks,
): void {
  const world = { name: environment, source: environment };
  const head = { root, name, version: '0.1.0', world, recipe: 'rloo' };
  const run = RunDirectory.create({ ...head, config: {} });
  const model = { vocabulary: 62, identity: '0123456789abcdef' };
  const start = { run: name, environment, recipe: 'rloo', seed: 1, version: '0.1.0' };
  run.events.append({ type: 'start', ...start, ...model, testTasks });
  const results = curve.map((success) => ({ sampled: evaluation(success), greedy: evaluation(success) }));
  for (const [step, result] of results.entries()) {
    const last = step === curve.length - 1;
    const spent = { episodes: 10 * step, turns: 100 * step, tokens: 1000 * step, seconds: step };
    if (step > 0) {
      const metrics = { 'time/step_s': 0.5 * step, 'groups/constant_share': 0.25 };
      run.events.append({ type: 'step', step, steps: curve.length - 1, metrics, spent });
    }
    const label = step === 0 ? 'before' : last ? 'after' : 'during';
    run.events.append({ type: 'evaluation', step, label, ...result, spent });
  }
  const summary = {
    before: results[0]!,
    after: results.at(-1)!,
    steps: curve.length - 1,
    tokens: { sampled: 0, trained: 0, forward: 0, scored: 0 },
    episodes: 0,
    turns: 0,
    seconds: { clone: 0, rollout: 0, train: 0, evaluate: 0, total: 0 },
  };
  run.events.append({ type: 'finish', summary });
  void run.close();
}
