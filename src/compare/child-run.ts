/** A `turnwise` command in a process of its own, watched by its JSON events. */

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { StoredEvent } from '../train/loop/events.ts';

/** Why a process ended otherwise than well. */
export interface Problem {
  readonly code: string;
  readonly message: string;
}

export interface Children {
  /**
   * Run `turnwise` with these words and `--json`; resolves with nothing when all went well. While another process works on
   * the run, the words are asked for again and again: what is left to do may change.
   */
  run(words: () => readonly string[], onEvent: (event: StoredEvent) => void): Promise<Problem | undefined>;
  /** Ask every process to stop after its step. */
  stop(): void;
  /** End every process at once. */
  kill(): void;
}

const busyRetryMs = 2000;
/** An hour: far longer than a run takes. */
const busyRetries = 1800;

/** Processes of this very program. */
export function turnwiseChildren(): Children {
  const main = fileURLToPath(new URL('../cli/main.js', import.meta.url));
  const living = new Set<ChildProcess>();
  let ended = false;
  const once = (words: readonly string[], onEvent: (event: StoredEvent) => void) =>
    new Promise<Problem | undefined>((resolve) => {
      // A group of its own, so that Ctrl-C reaches it once, from here.
      const child = spawn(process.execPath, [main, ...words, '--json'], {
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      });
      living.add(child);
      createInterface({ input: child.stdout }).on('line', (line) => {
        // The last line of a killed process may be cut short.
        if (line.startsWith('{') && line.endsWith('}')) onEvent(JSON.parse(line) as StoredEvent);
      });
      let errors = '';
      child.stderr.on('data', (chunk: Buffer) => {
        errors = (errors + chunk.toString()).slice(-8000);
      });
      child.on('error', (error) => resolve({ code: 'process-failed', message: error.message }));
      child.on('close', (code, signal) => {
        living.delete(child);
        resolve(code === 0 ? undefined : problemOf(errors, code, signal));
      });
    });
  const signalAll = (signal: NodeJS.Signals): void => {
    for (const child of living) child.kill(signal);
  };
  return {
    async run(words, onEvent) {
      for (let retry = 0; ; retry++) {
        const problem = await once(words(), onEvent);
        // A process that outlived a killed comparison leaves at its next event; another comparison may need the same run.
        if (problem?.code !== 'run-busy' || retry === busyRetries || ended) return problem;
        await sleep(busyRetryMs);
      }
    },
    stop: () => {
      ended = true;
      signalAll('SIGINT');
    },
    kill: () => {
      ended = true;
      signalAll('SIGKILL');
    },
  };
}

/** The error that the process wrote as JSON; otherwise its last words. */
export function problemOf(errors: string, code: number | null, signal: string | null): Problem {
  const lines = errors.split('\n').filter((line) => line.trim() !== '');
  for (const line of lines.toReversed()) {
    try {
      const { error } = JSON.parse(line) as { error?: Problem };
      if (error) return { code: error.code, message: error.message };
    } catch {
      // Not the line that we look for.
    }
  }
  const ending = signal === null ? `exit code ${code}` : `signal ${signal}`;
  return {
    code: 'process-failed',
    message: [`The process ended with ${ending}`, ...lines.slice(-3)].join(': '),
  };
}
