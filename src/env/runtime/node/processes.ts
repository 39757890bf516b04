/** Processes that belong to a runtime: found by session and by a mark in their environment, watched, and ended. */

import { readdirSync, readFileSync } from 'node:fs';

/** The variable that marks every process of a runtime, whatever session it made for itself. */
export const MARK = 'TURNWISE_RUNTIME';

/** Processes of one call at once. */
const MOST_PROCESSES = 64;
const LOOK_EVERY_MS = 50;
const PAGE_BYTES = 4096;

export interface Belongs {
  readonly session?: number;
  readonly mark?: string;
}

interface Process {
  readonly pid: number;
  readonly session: number;
  readonly bytes: number;
  /** Of the runtime that it belongs to; read when it is asked for. */
  mark(): string | undefined;
}

/** Living processes that belong; none where the system has no `/proc`. */
export function processesOf(belongs: Belongs): Process[] {
  return allProcesses().filter((process) => belongsTo(process, belongs));
}

const belongsTo = (process: Process, { session, mark }: Belongs): boolean =>
  process.session === session || (mark !== undefined && process.mark() === mark);

function allProcesses(): Process[] {
  return pids().flatMap((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The name before it may hold anything.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (fields[0] === 'Z') return [];
      let mark: string | undefined | null = null;
      return [
        {
          pid,
          session: Number(fields[3]),
          bytes: Number(fields[21]) * PAGE_BYTES,
          mark: () => {
            mark = mark === null ? markOf(pid) : mark;
            return mark;
          },
        },
      ];
    } catch {
      return [];
    }
  });
}

function markOf(pid: number): string | undefined {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
    return variables.find((one) => one.startsWith(`${MARK}=`))?.slice(MARK.length + 1);
  } catch {
    return undefined;
  }
}

function pids(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** End a group at once, then whatever else belongs, until nothing is left but what is spared. */
export function endProcesses(belongs: Belongs, group: number | undefined, spared?: number): void {
  if (group !== undefined) kill(-group);
  for (let round = 0; round < 20; round++) {
    const left = processesOf(belongs).filter(({ pid }) => pid !== spared);
    if (left.length === 0) return;
    for (const { pid } of left) kill(pid);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

interface Watched {
  readonly belongs: Belongs;
  readonly memoryBytes: number;
  readonly exceeded: (limit: 'memory' | 'processes') => void;
}

/** All calls are watched by one clock: looking through the processes of a machine takes time. */
const watched = new Set<Watched>();
let clock: NodeJS.Timeout | undefined;

/**
 * Look at what belongs while a call runs; `exceeded` is told once, when there are too many or they hold too much.
 *
 * @returns ends the watch
 */
export function watchProcesses(
  belongs: Belongs,
  memoryBytes: number,
  exceeded: (limit: 'memory' | 'processes') => void,
): () => void {
  const one: Watched = { belongs, memoryBytes, exceeded };
  watched.add(one);
  clock ??= setInterval(look, LOOK_EVERY_MS);
  return () => unwatch(one);
}

function unwatch(one: Watched): void {
  watched.delete(one);
  if (watched.size > 0) return;
  clearInterval(clock);
  clock = undefined;
}

function look(): void {
  const all = allProcesses();
  for (const one of [...watched]) {
    const present = all.filter((process) => belongsTo(process, one.belongs));
    const bytes = present.reduce((sum, process) => sum + process.bytes, 0);
    const limit =
      present.length > MOST_PROCESSES ? 'processes' : bytes > one.memoryBytes ? 'memory' : undefined;
    if (limit === undefined) continue;
    unwatch(one);
    one.exceeded(limit);
  }
}

/** The error of a call that met a limit. */
export function limitError(limit: 'time' | 'memory' | 'processes', timeMs: number): string {
  switch (limit) {
    case 'time':
      return `TimeLimit: the call took longer than ${timeMs} ms and was undone`;
    case 'memory':
      return 'MemoryLimit: the processes of the call took too much memory, and it was undone';
    case 'processes':
      return `ProcessLimit: the call had more than ${MOST_PROCESSES} processes and was undone`;
  }
}
