/**
 * The folder of all runtimes of this process, and a small process that waits for its end: however it ends, what runtimes
 * started is ended too, and the folder removed.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** As `MARK`, of all runtimes of this process. */
export const OWNER_MARK = 'TURNWISE_RUNTIMES';

const KEEP = `
cat >/dev/null
for round in 1 2 3; do
  for file in /proc/[0-9]*/environ; do
    if grep -qs "${OWNER_MARK}=$1" "$file"; then pid=\${file#/proc/}; kill -9 "\${pid%/environ}" 2>/dev/null; fi
  done
done
rm -rf "$2"`;

interface Keeper {
  readonly owner: string;
  readonly folder: string;
  readonly process: ChildProcess;
}

let keeper: Keeper | undefined;

function keep(): Keeper {
  if (keeper !== undefined) return keeper;
  const owner = randomUUID();
  const folder = mkdtempSync(join(tmpdir(), 'turnwise-runtimes-'));
  // In a session of its own, so that it outlives Ctrl-C; its input ends when this process does.
  const child = spawn('sh', ['-c', KEEP, 'sh', owner, folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => {});
  child.unref();
  (child.stdin as unknown as { unref?(): void } | null)?.unref?.();
  keeper = { owner, folder, process: child };
  return keeper;
}

/** A new folder, and the mark of all runtimes. */
export async function keptFolder(): Promise<{ readonly folder: string; readonly owner: string }> {
  const { folder, owner } = keep();
  return { folder: await mkdtemp(join(folder, 'r-')), owner };
}
