/** The viewer beside a run: a process of its own, of low priority, that ends with this one. */

import { fork } from 'node:child_process';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';

const niceness = 5;

export interface Beside {
  readonly address: string;
  close(): void;
}

/** @param main the program's entry; this one's by default */
export async function viewBeside(root: string, main: string = mainFile()): Promise<Beside> {
  const child = fork(main, ['view', '--runs', root, '--json'], {
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
    execArgv: process.execArgv,
  });
  const leave = (): void => {
    child.kill();
  };
  process.once('exit', leave);
  const line = await new Promise<string>((resolve) => {
    let text = '';
    child.stdout!.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      if (text.includes('\n')) resolve(text);
    });
    child.once('error', () => resolve(''));
    child.once('exit', () => resolve(''));
  });
  if (child.pid !== undefined && line !== '') lowerPriority(child.pid);
  // Nothing waits for the viewer.
  child.unref();
  child.channel?.unref();
  (child.stdout as { unref?: () => void }).unref?.();
  return {
    address: line === '' ? '' : (JSON.parse(line) as { readonly address: string }).address,
    close: () => {
      process.off('exit', leave);
      leave();
    },
  };
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, niceness);
  } catch {
    // It is gone already, or the system does not let us.
  }
}

function mainFile(): string {
  return fileURLToPath(new URL('./main.js', import.meta.url));
}
