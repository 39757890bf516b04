/** A lock file with a process id, so that two processes never write one run. */

import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { TurnwiseError } from '../core/errors.ts';
import { errnoOf } from '../core/write-error.ts';
import type { Disk } from './disk.ts';

interface Holder {
  readonly pid: number;
  readonly host: string;
}

/** Locks held by this process: its own id in a file it does not hold is left over from an earlier process. */
const held = new Set<string>();

/**
 * Take the lock at `path`; the lock of a process that is gone is taken over.
 *
 * @returns the function that gives it back
 * @throws TurnwiseError `run-busy` while another process (or another part of this one) holds it
 */
export function takeLock(path: string, run: string, disk: Disk): () => void {
  const mine: Holder = { pid: process.pid, host: hostname() };
  for (let attempt = 0; ; attempt++) {
    try {
      disk.createFile(path, JSON.stringify(mine));
      held.add(path);
      return () => {
        if (held.delete(path)) disk.remove(path);
      };
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error;
      const holder = readHolder(path);
      if (attempt > 2 || (holder !== undefined && isHolding(holder, path))) throw busy(path, run, holder);
      disk.remove(path);
    }
  }
}

function readHolder(path: string): Holder | undefined {
  try {
    const holder = JSON.parse(readFileSync(path, 'utf8')) as Partial<Holder>;
    return typeof holder.pid === 'number' ? { pid: holder.pid, host: String(holder.host) } : undefined;
  } catch {
    return undefined;
  }
}

function isHolding({ pid, host }: Holder, path: string): boolean {
  if (host !== hostname()) return true;
  if (pid === process.pid) return held.has(path);
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return errnoOf(error) === 'EPERM';
  }
}

/** Whether a process has ended and only its parent has not noticed: signals still reach it. Linux; false elsewhere. */
function isZombie(pid: number): boolean {
  try {
    const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(')').at(-1)!;
    return /^ [ZX]/.test(afterName);
  } catch {
    return false;
  }
}

function busy(path: string, run: string, holder: Holder | undefined): TurnwiseError {
  const where = holder && holder.host !== hostname() ? ` on ${holder.host}` : '';
  return new TurnwiseError('run-busy', {
    what: `Run "${run}" is being written by another process`,
    seen: holder ? `process ${holder.pid}${where}` : 'a lock that changes hands',
    next: `Wait until it ends or stop it; if it no longer exists, delete ${path}`,
    fields: { run, path, pid: holder?.pid ?? 0 },
  });
}
