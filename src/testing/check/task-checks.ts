/** Tasks: the same for ever, and test tasks that training never sees. */

import { canonicalJson, findNonJson, type Json } from '../../core/json/json.ts';
import type { Split } from '../../env/environment.ts';
import type { Checked, Finding } from './report.ts';
import { SPLITS, type Subject } from './subject.ts';

/** Tasks of each split that are compared. */
const LOOKED_AT = 300;

export function checkTasks({ world, options }: Subject): Checked {
  const read = SPLITS.map((split) => tasksIn(world.tasks(split), false));
  const again = SPLITS.map((split) => tasksIn(world.tasks(split), true));
  const findings: Finding[] = [];
  for (const [number, split] of SPLITS.entries()) {
    const here = { options, split };
    const [tasks, other] = [read[number]!, again[number]!];
    if (tasks.length === 0) {
      findings.push({
        fault: `the ${split} split has no tasks`,
        counterexample: here,
        next: 'Give each split a task.',
      });
    }
    const foreign = tasks.findIndex((task) => findNonJson(task) !== undefined);
    if (foreign >= 0) {
      findings.push({
        fault: `a task is not plain JSON at ${findNonJson(tasks[foreign])}`,
        counterexample: { ...here, index: foreign },
        next: 'Keep only plain data in tasks.',
      });
      continue;
    }
    const changed = tasks.findIndex((task, index) => canonicalJson(task) !== canonicalJson(other[index]!));
    if (changed >= 0) {
      findings.push({
        fault: 'the same index gave two tasks, asked in another order',
        counterexample: { ...here, index: changed, first: tasks[changed]!, second: other[changed]! },
        next: 'Draw a task from its index alone, such as with Rng.of(name, split, index) or drawnTasks.',
      });
    }
  }
  if (findings.length === 0) findings.push(...shared(read, options));
  const heldOut = isSame(read[0]!, read[2]!)
    ? 'test tasks are the training tasks'
    : 'test tasks are held out';
  return {
    check: 'tasks',
    seen: `${SPLITS.map((split) => `${sizeOf(world.tasks(split).size)} ${split}`).join(', ')}; ${heldOut}`,
    findings,
  };
}

const sizeOf = (size: number): string => (Number.isFinite(size) ? `${size}` : 'endless');

/** The first tasks; read backwards the second time. */
function tasksIn(tasks: { readonly size: number; at(index: number): Json }, backwards: boolean): Json[] {
  const count = Math.min(tasks.size, LOOKED_AT);
  const indices = Array.from({ length: count }, (_, index) => index);
  const found: Json[] = [];
  for (const index of backwards ? indices.reverse() : indices)
    found[index] = structuredClone(tasks.at(index));
  return found;
}

const isSame = (one: readonly Json[], other: readonly Json[]): boolean => {
  const keys = new Set(one.map(canonicalJson));
  return one.length === other.length && other.every((task) => keys.has(canonicalJson(task)));
};

/** Splits are either all the same tasks, where there is nothing to hold out, or have none in common. */
function shared(read: readonly (readonly Json[])[], options: Subject['options']): Finding[] {
  const findings: Finding[] = [];
  const pairs: readonly (readonly [number, number])[] = [
    [0, 2],
    [0, 1],
    [1, 2],
  ];
  for (const [one, other] of pairs) {
    if (isSame(read[one]!, read[other]!)) continue;
    const places = new Map(read[one]!.map((task, index) => [canonicalJson(task), index]));
    const index = read[other]!.findIndex((task) => places.has(canonicalJson(task)));
    if (index < 0) continue;
    const [first, second] = [SPLITS[one]!, SPLITS[other]!] as readonly Split[];
    findings.push({
      fault: `a ${second} task is a ${first} task too`,
      counterexample: {
        options,
        [first!]: places.get(canonicalJson(read[other]![index]!))!,
        [second!]: index,
        task: read[other]![index]!,
      },
      next: 'Let a hash of the task choose its split: drawnTasks does, and an array or a file as tasks.',
    });
  }
  return findings;
}
