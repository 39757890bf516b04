/** Finished runs of a comparison, made up, for tests of what is told about them. */

import type { TestTasks } from '../../env/practised.ts';
import { findEnvironment } from '../../run/load/environments.ts';
import { RunDirectory } from '../../store/run-directory.ts';
import { findRecipe } from '../../train/recipes/recipes.ts';
import { evaluation } from '../example-run.test-helper.ts';
import { type Plan, planComparison } from './plan.ts';
import type { JobStatus } from './sweep.ts';

export async function examplePlan(root: string, recipes: readonly string[], seeds: number): Promise<Plan> {
  return planComparison({
    factory: await findEnvironment('frozen-lake'),
    recipes: recipes.map(findRecipe),
    seeds,
    budget: { unit: 'steps', amount: 4 },
    set: [],
    name: 'example',
    root,
  });
}

/**
 * Runs whose evaluations were these successes, one a step, each step worth 100 environment steps and 1000 tokens.
 *
 * @param curves by name of the run; runs that are not named failed
 * @param testTasks what the runs recorded of the tasks of their evaluations
 */
export function exampleStatuses(
  plan: Plan,
  curves: Readonly<Record<string, readonly number[]>>,
  testTasks: TestTasks = 'held-out',
): readonly JobStatus[] {
  return plan.jobs.map((job) => {
    const common = { job, share: 1, turns: 0 };
    if (job.kind === 'start') return { ...common, state: 'finished' };
    const curve = curves[job.name];
    if (curve === undefined) {
      const problem = { code: 'process-failed', message: 'The process ended with signal SIGKILL' };
      return { ...common, state: 'failed', problem };
    }
    writeRun(plan.folder, job.name, curve, testTasks);
    return { ...common, state: 'finished' };
  });
}

function writeRun(root: string, name: string, curve: readonly number[], testTasks: TestTasks): void {
  const world = { name: 'frozen-lake', source: 'frozen-lake' };
  const head = { root, name, version: '0.1.0', world, recipe: 'rloo' };
  const run = RunDirectory.create({ ...head, config: {} });
  const model = { vocabulary: 62, identity: '0123456789abcdef' };
  const start = { run: name, environment: 'frozen-lake', recipe: 'rloo', seed: 1, version: '0.1.0' };
  run.events.append({ type: 'start', ...start, ...model, testTasks });
  const results = curve.map((success) => ({ sampled: evaluation(success), greedy: evaluation(success) }));
  for (const [step, result] of results.entries()) {
    const last = step === curve.length - 1;
    const spent = { episodes: 10 * step, turns: 100 * step, tokens: 1000 * step, seconds: step };
    if (step > 0) {
      const metrics = { 'time/step_s': 0.5 * step };
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
