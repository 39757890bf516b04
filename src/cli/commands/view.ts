/** `turnwise view`: runs and their episodes as pages of a browser. */

import { spawn } from 'node:child_process';
import { z } from 'zod';
import { version } from '../../run/version.ts';
import { unknownRun } from '../../store/runs.ts';
import { listenView } from '../../view/server/listen.ts';
import { RunsFolder } from '../../view/server/runs-folder.ts';
import { type Command, defineCommand } from '../command.ts';

const options = z.strictObject({
  runs: z.string().default('runs').describe('Folder that holds the runs'),
  port: z.int().min(0).max(65_535).default(0).describe('Port on this machine; 0 takes a free one'),
  open: z.boolean().default(false).describe('Open the page in the browser'),
  json: z.boolean().default(false).describe('Print the address as JSON'),
});

export const viewCommand: Command<typeof options> = defineCommand({
  name: 'view',
  summary: 'Look at runs and their episodes in the browser',
  arguments: [{ name: 'run', description: 'Name of a run, to begin with it', required: false }],
  options,
  examples: ['turnwise view', 'turnwise view frozen-lake-rloo-1', 'turnwise view --open'],
  async run({ arguments: { run }, options: { runs: root, port, open, json }, console, interrupts }) {
    if (run !== undefined && !new RunsFolder({ root, version }).list().some(({ name }) => name === run)) {
      throw unknownRun(root, run);
    }
    const server = await listenView({ root, version }, port);
    const address = server.address(run === undefined ? '/' : `/runs/${encodeURIComponent(run)}`);
    console.write(
      json
        ? `${JSON.stringify({ address, origin: server.origin, key: server.key })}\n`
        : `Runs of ${root} at\n\n  ${address}\n\nOnly this machine can reach it. From another: ssh -L PORT:127.0.0.1:${new URL(server.origin).port} HOST\nCtrl-C stops.\n`,
    );
    if (open) openInBrowser(address);
    await new Promise<void>((resolve) => {
      interrupts.signal.addEventListener('abort', () => resolve(), { once: true });
      // Beside a run it ends with the run, however that ends.
      process.once('disconnect', () => resolve());
      if (interrupts.signal.aborted) resolve();
    });
    await server.close();
  },
});

/** By the system's own means; where there are none, the address is on the screen. */
function openInBrowser(address: string): void {
  const [command, ...words] =
    process.platform === 'darwin'
      ? ['open']
      : process.platform === 'win32'
        ? ['cmd', '/c', 'start', '""']
        : ['xdg-open'];
  spawn(command!, [...words, address], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}
