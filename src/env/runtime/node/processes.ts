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
  readonly bytes: number;
}

/** Living processes that belong; none where the system has no `/proc`. */
export function processesOf({ session, mark }: Belongs): Process[] {
  return pids().flatMap((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The name before it may hold anything.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (fields[0] === 'Z') return [];
      const ours = Number(fields[3]) === session || (mark !== undefined && isMarked(pid, mark));
      return ours ? [{ pid, bytes: Number(fields[21]) * PAGE_BYTES }] : [];
    } catch {
      return [];
    }
  });
}

function isMarked(pid: number, mark: string): boolean {
  return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`${MARK}=${mark}`);
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

/** Look at what belongs while a call runs; `exceeded` is told once, when there are too many or they hold too much. */
export function watchProcesses(
  belongs: Belongs,
  memoryBytes: number,
  exceeded: (limit: 'memory' | 'processes') => void,
): () => void {
  const timer = setInterval(() => {
    const present = processesOf(belongs);
    const bytes = present.reduce((sum, process) => sum + process.bytes, 0);
    const limit =
      present.length > MOST_PROCESSES ? 'processes' : bytes > 2 * memoryBytes ? 'memory' : undefined;
    if (limit === undefined) return;
    clearInterval(timer);
    exceeded(limit);
  }, LOOK_EVERY_MS);
  return () => clearInterval(timer);
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
