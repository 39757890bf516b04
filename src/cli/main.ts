#!/usr/bin/env node
/** The `turnwise` command. */

import { runCommandLine } from './command-line.ts';
import { compareCommand } from './commands/compare.ts';
import { creditCommand } from './commands/credit.ts';
import { envCommand } from './commands/env.ts';
import { envsCommand } from './commands/envs.ts';
import { evalCommand } from './commands/eval.ts';
import { exportCommand } from './commands/export.ts';
import { gatewayCommand } from './commands/gateway.ts';
import { playCommand } from './commands/play.ts';
import { recipesCommand } from './commands/recipes.ts';
import { resumeCommand } from './commands/resume.ts';
import { runsCommand } from './commands/runs.ts';
import { serveCommand } from './commands/serve.ts';
import { trainCommand } from './commands/train.ts';
import { processConsole } from './console.ts';
import { processInterrupts } from './interrupts.ts';
import { version } from './version.ts';

// A reader that has seen enough (`turnwise runs | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const interrupts = processInterrupts();
process.exitCode = await runCommandLine(process.argv.slice(2), {
  commands: [
    trainCommand,
    resumeCommand,
    evalCommand,
    playCommand,
    exportCommand,
    envsCommand,
    gatewayCommand,
    envCommand,
    runsCommand,
    compareCommand,
    recipesCommand,
    creditCommand,
    serveCommand,
  ],
  version,
  console: processConsole(),
  interrupts,
});
// What was dropped may still compute, and nobody waits for it.
if (interrupts.signal.aborted || process.exitCode === 130) process.stdout.write('', () => process.exit());
