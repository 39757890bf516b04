/**
 * A lock file, so that two processes never write one run. No instant gives it to two of them, not even where the process
 * that held it is gone:
 *
 * - A lock appears with its content (a link to a finished file), so nobody ever reads half of one.
 * - A stale lock is replaced only by the process that owns the *right* to replace it: a second file, named for the token of
 *   the stale lock, taken in the same way. Tokens are never used twice, so whoever owns the right, and still finds that
 *   token in the lock, is alone.
 */

import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { TurnwiseError } from '../core/errors.ts';
import { errnoOf } from '../core/write-error.ts';
import type { Disk } from './disk.ts';

interface Holder {
  readonly pid: number;
  readonly host: string;
  /** Names this lock and no other. */
  readonly token: string;
  /** When the process started, in ticks of the system: a later process may have the same id. Linux; otherwise null. */
  readonly started: string | null;
}

/** Locks held by this process: its own id in a file it does not hold is left over from an earlier process. */
const held = new Set<string>();

/** An unreadable file younger than this may be in the making, where the file system has no links. */
const youngMs = 500;
/** Ids of no process: of a file that nobody can read, and of one that may be in the making. */
const [nobody, somebody] = [0, -1];

/**
 * Take the lock at `path`; the lock of a process that is gone is taken over.
 *
 * @returns the function that gives it back
 * @throws TurnwiseError `run-busy` while another process (or another part of this one) holds it
 */
export function takeLock(path: string, run: string, disk: Disk): () => void {
  const token = randomBytes(8).toString('hex');
  const mine: Holder = { pid: process.pid, host: hostname(), token, started: processStart(process.pid) };
  const ticket = `${path}.${token}`;
  try {
    disk.createFile(ticket, JSON.stringify(mine));
    const other = own(path, ticket, disk);
    if (other) throw busy(path, run, other);
  } finally {
    disk.remove(ticket);
  }
  held.add(path);
  removeLeftOvers(path, disk);
  return () => {
    if (held.delete(path) && readHolder(path)?.token === token) disk.remove(path);
  };
}

/** Whether a process that is alive holds the lock at `path`, so far as can be told from here. */
export function isLocked(path: string): boolean {
  const holder = readHolder(path);
  return holder !== undefined && isHolding(holder, path);
}

/** Make the file at `path` ours. @returns who keeps it from us, or undefined when it is ours */
function own(path: string, ticket: string, disk: Disk): Holder | undefined {
  for (let attempt = 0; attempt < 20; attempt++) {
    if (created(ticket, path, disk)) return undefined;
    const holder = readHolder(path);
    if (holder === undefined) continue;
    if (isHolding(holder, path)) return holder;
    const right = `${path}.${holder.token}`;
    const other = own(right, ticket, disk);
    if (other) return other;
    try {
      if (readHolder(path)?.token !== holder.token) continue;
      const copy = `${ticket}.copy`;
      disk.link(ticket, copy);
      disk.rename(copy, path);
      return undefined;
    } finally {
      disk.remove(right);
    }
  }
  return { pid: somebody, host: hostname(), token: '', started: null };
}

function created(ticket: string, path: string, disk: Disk): boolean {
  try {
    disk.link(ticket, path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Undefined where there is no file. One that cannot be read belongs to nobody, and is named by its place on the disk. */
function readHolder(path: string): Holder | undefined {
  try {
    const { mtimeMs, ino } = statSync(path);
    const text = readFileSync(path, 'utf8');
    let seen: Partial<Holder> | null = null;
    try {
      seen = JSON.parse(text) as Partial<Holder> | null;
    } catch {
      // Named below.
    }
    const token = /^\w+$/.test(seen?.token ?? '') ? seen!.token! : `${ino}-${Math.round(mtimeMs * 1000)}`;
    const started = seen?.started ?? null;
    if (typeof seen?.pid === 'number') return { pid: seen.pid, host: String(seen.host), token, started };
    const young = Math.abs(Date.now() - mtimeMs) < youngMs;
    return { pid: young ? somebody : nobody, host: hostname(), token, started: null };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function isHolding({ pid, host, started }: Holder, path: string): boolean {
  if (host !== hostname()) return true;
  if (pid === process.pid) return held.has(path);
  if (pid <= 0) return pid === somebody;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return errnoOf(error) === 'EPERM';
  }
  const now = processStart(pid);
  return now !== 'ended' && (started === null || now === null || now === started);
}

/** Start of a process, or `ended` where only its parent has not noticed that it has; null where nobody says. */
function processStart(pid: number): string | null {
  try {
    const [state, ...rest] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    return state === 'Z' || state === 'X' ? 'ended' : rest[18]!;
  } catch {
    return null;
  }
}

/** Tickets and rights of processes that were killed while they took the lock. Only its holder may clear them away. */
function removeLeftOvers(path: string, disk: Disk): void {
  for (const name of readdirSync(dirname(path))) {
    if (!name.startsWith(`${basename(path)}.`)) continue;
    const file = join(dirname(path), name);
    const holder = readHolder(file);
    if (holder && !isHolding(holder, file)) disk.remove(file);
  }
}

function busy(path: string, run: string, holder: Holder): TurnwiseError {
  const where = holder.host !== hostname() ? ` on ${holder.host}` : '';
  return new TurnwiseError('run-busy', {
    what: `Run "${run}" is being written by another process`,
    seen: holder.pid > 0 ? `process ${holder.pid}${where}` : 'a lock that changes hands',
    next: `Wait until it ends or stop it; if it no longer exists, delete ${path}`,
    fields: { run, path, pid: holder.pid },
  });
}
