/** The server for environments in Python, as a process of its own; and whether there is a Python for it. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

/** `TURNWISE_PYTHON` names another one. */
export const python = process.env.TURNWISE_PYTHON ?? 'python3';

export const script = new URL('../python/serve.py', import.meta.url).pathname;

/** Whether that code runs there without an error. */
export const runs = (code: string): boolean => spawnSync(python, ['-c', code]).status === 0;

export const hasPython = runs('import sys; assert sys.version_info >= (3, 9)');

export interface PythonServer {
  readonly http: string;
  /** What it wrote about errors so far. */
  errors(): string;
  stop(): Promise<void>;
}

export async function startPythonServer(
  line: readonly string[],
  options: { readonly folder?: string; readonly environment?: Readonly<Record<string, string>> } = {},
): Promise<PythonServer> {
  const child = spawn(python, [script, ...line, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...options.environment },
    ...(options.folder !== undefined && { cwd: options.folder }),
  });
  let errors = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const http = await address(child, () => errors);
  return {
    http,
    errors: () => errors,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill();
      await once(child, 'exit');
    },
  };
}

/** As the server prints it when it listens. */
function address(child: ChildProcess, errors: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const [, http] = /turnwise:(http:\S+)/.exec(output) ?? [];
      if (http !== undefined) resolve(http);
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`The Python server ended: ${errors()}`)));
  });
}
