/** How each test task went in each evaluation, from the files that the run wrote: no episode is read. */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type EvaluatedTask, readEvaluatedTasks } from '../../store/evaluation-tasks.ts';
import type { EvaluatedRow, EvaluationGrid } from '../shapes.ts';
import type { WatchedRun } from './watched-run.ts';

/** Columns of the grid: the first, the last and some between them. */
const mostShown = 24;

/** @param wanted evaluations that must be among them */
export function evaluationGrid(run: WatchedRun, wanted: readonly number[] = []): EvaluationGrid {
  const folder = join(run.path, 'evaluations');
  const all = stepsIn(folder);
  const steps = chosenOf(all, wanted);
  const rows = new Map<string, EvaluatedRow>();
  const read = steps.flatMap((step) => {
    const tasks = readEvaluatedTasks(folder, step);
    return tasks ? [{ step, sampled: named(tasks.sampled, rows), greedy: named(tasks.greedy, rows) }] : [];
  });
  const names = [...rows.keys()];
  const outcomes = (of: ReadonlyMap<string, EvaluatedTask>): string =>
    names.map((name) => mark(of.get(name))).join('');
  return {
    evaluations: all,
    rows: [...rows.values()],
    shown: read.map(({ step, sampled, greedy }) => ({
      step,
      sampled: outcomes(sampled),
      greedy: outcomes(greedy),
    })),
  };
}

const mark = (task: EvaluatedTask | undefined): string =>
  task === undefined ? '-' : task.success ? '1' : '0';

function stepsIn(folder: string): number[] {
  try {
    const names = readdirSync(folder).flatMap((name) => /^(\d+)\.json$/.exec(name)?.[1] ?? []);
    return names.map(Number).sort((a, b) => a - b);
  } catch {
    return [];
  }
}

function chosenOf(all: readonly number[], wanted: readonly number[]): number[] {
  const even = Array.from(
    { length: mostShown },
    (_, index) => all[Math.round((index * (all.length - 1)) / (mostShown - 1))],
  );
  const kept = new Set(all.length <= mostShown ? all : [...even, ...wanted]);
  return all.filter((step) => kept.has(step));
}

/**
 * The tasks under names that are theirs in every evaluation: a task that is played over and over counts its rounds. New ones
 * are added to the rows, with the group that holds their episode.
 */
function named(tasks: readonly EvaluatedTask[], rows: Map<string, EvaluatedRow>): Map<string, EvaluatedTask> {
  const seen = new Map<string, number>();
  const result = new Map<string, EvaluatedTask>();
  let group = -1;
  let inGroup = { task: undefined as EvaluatedTask['task'] | undefined, roles: new Set<string>() };
  for (const evaluated of tasks) {
    const { task, role } = evaluated;
    if (task !== inGroup.task || inGroup.roles.has(role)) {
      group++;
      inGroup = { task, roles: new Set() };
    }
    inGroup.roles.add(role);
    const own = JSON.stringify([task, role]);
    const round = seen.get(own) ?? 0;
    seen.set(own, round + 1);
    const name = `${own} ${round}`;
    result.set(name, evaluated);
    if (!rows.has(name)) rows.set(name, { task, role, group });
  }
  return result;
}
