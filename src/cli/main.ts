#!/usr/bin/env node

/** The `turnwise` command. */

import { withUserCode } from '../rollout/node/stray-errors.ts';
import { version } from '../run/version.ts';
import { processConsole } from '../show/console.ts';
import { runCommandLine } from './command-line.ts';
import { commands } from './commands.ts';
import { endingSoon, processInterrupts } from './interrupts.ts';

// A reader that has seen enough (`turnwise runs | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const console = processConsole();
const interrupts = processInterrupts();

const code = await runCommandLine(process.argv.slice(2), {
  commands,
  version,
  console,
  interrupts,
  around: (work) => {
    const done = withUserCode(interrupts.signal, async (_signal, strays) => {
      await work();
      const told = strays.take();
      if (told !== undefined) console.writeError(`warning: ${told}\n`);
    });
    return endingSoon(done, interrupts.signal);
  },
});

// The command is done: nothing that it left open may outlive a request to terminate.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(code));
// Everything is written; what user code has left running (an interval, an open connection) must not keep the process.
for (const stream of [process.stdout, process.stderr]) {
  await new Promise<void>((resolve) => stream.write('', () => resolve()));
}
process.exit(code);
