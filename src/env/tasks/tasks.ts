/** Tasks as authors give them: a function of the split, or one set that is split for them. */

import type { Split } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { canonicalJson, type Json } from '../../core/json/json.ts';
import { hash32 } from '../../core/rng.ts';
import { valueText } from '../../core/safe-text.ts';
import { openTaskFile } from './node/task-file.ts';
import { cutIntoSplits } from './split-tasks.ts';

/** A numbered set of tasks: the same index gives the same task, for ever. */
export interface TaskSet<Task> {
  /** May be Infinity. */
  readonly size: number;
  at(index: number): Task;
}

/** One set of tasks: a list, a numbered set, or the path of a JSON, JSONL or CSV file. */
export type TaskList<Task> = readonly Task[] | TaskSet<Task> | string | URL;

/**
 * The tasks of an environment, a game or an agent: a function that gives those of a split; or one set, of which a tenth is kept
 * for validation and a tenth for tests, chosen by a hash of the task. Paths start from the file that defines the world, and in
 * a program from its working directory.
 */
export type Tasks<Task> = TaskList<Task> | ((split: Split) => TaskList<Task>);

/** The tasks of a split, wherever they come from. */
export interface TaskReader<Task> {
  (split: Split): TaskSet<Task>;
  /** The same tasks with files looked for in `folder`; absent where no file can be meant. */
  in?(folder: string): TaskReader<Task>;
}

/** Nothing is read before a split is asked for, and then once. */
export function readTasks<Task>(tasks: Tasks<Task>, folder?: string): TaskReader<Task> {
  const known = new Map<Split, TaskSet<Task>>();
  let whole: ((split: Split) => TaskSet<Task>) | undefined;
  const read = (split: Split): TaskSet<Task> => {
    if (typeof tasks === 'function') return openList(tasks(split), folder).set;
    whole ??= splitOf(openList(tasks, folder));
    return whole(split);
  };
  const reader: TaskReader<Task> = (split) => {
    // A function may give another list each time, so only what lies in files is kept.
    const set = known.get(split) ?? read(split);
    if (opened.has(set)) known.set(split, set);
    return set;
  };
  reader.in = (place) => readTasks(tasks, place);
  return reader;
}

/** The tasks of a world, with files looked for in `folder` where some are meant. */
export function tasksIn<Task, World extends { tasks(split: Split): TaskSet<Task> }>(
  world: World,
  folder: string,
): World {
  const { in: move } = world.tasks as TaskReader<Task>;
  return move ? { ...world, tasks: move(folder) } : world;
}

/** The reader behind `of.tasks`, which still knows about its files. */
export function readerOf<Task>(of: { tasks(split: Split): TaskSet<Task> }): TaskReader<Json> {
  const reader = of.tasks as TaskReader<unknown>;
  return (reader.in ? reader : (split: Split) => of.tasks(split)) as TaskReader<Json>;
}

/** Sets that lie in files. */
const opened = new WeakSet<object>();

interface OpenList<Task> {
  readonly set: TaskSet<Task>;
  /** Of each task; equal tasks have equal ones. Absent where they are endless. */
  readonly hashes?: () => Uint32Array;
}

function openList<Task>(list: TaskList<Task>, folder: string | undefined): OpenList<Task> {
  if (typeof list === 'string' || list instanceof URL) {
    const file = openTaskFile(list, folder);
    opened.add(file);
    return { set: file as unknown as TaskSet<Task>, hashes: () => file.hashes };
  }
  const set = Array.isArray(list) ? setOf(list as readonly Task[]) : (list as TaskSet<Task>);
  if (typeof set?.size !== 'number' || typeof set.at !== 'function') throw noTasks(set);
  if (!Number.isFinite(set.size)) return { set };
  const hashes = (): Uint32Array =>
    Uint32Array.from({ length: set.size }, (_, index) => hash32(canonicalJson(set.at(index) as Json)));
  return { set, hashes };
}

function noTasks(seen: unknown): TurnwiseError {
  return new TurnwiseError('tasks-invalid', {
    what: 'The tasks of an environment are no tasks',
    seen: valueText(seen),
    allowed:
      'an array, { size, at(index) }, the path of a .json, .jsonl or .csv file, or a function from a split to one of these',
    next: 'See docs/write-an-environment.md',
  });
}

function setOf<Task>(list: readonly Task[]): TaskSet<Task> {
  return { size: list.length, at: (index) => list[index]! };
}

/** Of every ten tasks of an endless set, the last two are kept from training. */
const PERIOD = 10;
const ENDLESS = { train: [0, 8], validation: [8, 1], test: [9, 1] } as const;

function splitOf<Task>({ set, hashes }: OpenList<Task>): (split: Split) => TaskSet<Task> {
  if (!hashes) {
    return (split) => {
      const [first, count] = ENDLESS[split];
      const place = (index: number): number => Math.floor(index / count) * PERIOD + first + (index % count);
      return { size: Number.POSITIVE_INFINITY, at: (index) => set.at(place(index)) };
    };
  }
  const parts = cutIntoSplits(hashes());
  return (split) => {
    const indices = parts[split];
    return { size: indices.length, at: (index) => set.at(indices[index]!) };
  };
}
