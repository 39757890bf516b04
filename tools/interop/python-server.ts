/** Servers in Python that the interop scripts start, wait for and stop. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export const python: string = process.env.PYTHON ?? 'python3';

export const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** Start Python with those arguments (given a free port) and wait until `path` answers. */
export async function startPython(
  toArguments: (port: number) => readonly string[],
  path: string,
  options: { readonly folder?: string; readonly needs: string },
): Promise<{ port: number; child: ChildProcess }> {
  const port = await freePort();
  const child = spawn(python, [...toArguments(port)], {
    stdio: ['ignore', 'ignore', 'inherit'],
    ...(options.folder === undefined ? {} : { cwd: options.folder }),
  });
  for (let attempt = 0; attempt < 900; attempt++) {
    await sleep(200);
    const answers = await fetch(`http://127.0.0.1:${port}${path}`)
      .then(({ ok }) => ok)
      .catch(() => false);
    if (answers) return { port, child };
    if (child.exitCode !== null) break;
  }
  child.kill();
  throw new Error(`The server did not start; set PYTHON to one that has ${options.needs}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
