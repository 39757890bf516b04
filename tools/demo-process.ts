/** The demo, built and served by a process of its own: for tests and benchmarks. */

import { spawn } from 'node:child_process';

export interface ServedDemo {
  readonly origin: string;
  close(): void;
}

const root = new URL('..', import.meta.url).pathname.replace(/\/dist\/$/, '/');

/** @param more options of `npm run demo` */
export async function startDemo(folder: string, more: readonly string[] = []): Promise<ServedDemo> {
  const child = spawn(process.execPath, ['tools/build-demo.mjs', folder, '--serve', '--port', '0', ...more], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  const origin = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const [, address] = /Served at (http:\S+?)\/?\n/.exec(said) ?? [];
      if (address !== undefined) resolve(address);
    });
    child.on('exit', (code) => reject(new Error(`the demo was not served: code ${code}, ${said}`)));
  });
  return { origin, close: () => child.kill() };
}
