/** From the words after `turnwise` to an exit code. */

import { nearest, TurnwiseError } from '../core/errors.ts';
import { visible } from '../core/visible.ts';
import { writeError } from '../core/write-error.ts';
import { type Console, painter, safeConsole, wrap } from '../show/console.ts';
import type { Command } from './command.ts';
import { exitCodeOf } from './exit-code.ts';
import { commandHelp, overviewHelp } from './help.ts';
import type { Interrupts } from './interrupts.ts';
import { parseLine } from './options.ts';

export interface Surroundings {
  readonly commands: readonly Command[];
  readonly version: string;
  readonly console: Console;
  readonly interrupts: Interrupts;
  /** Does the work of a command with whatever must hold around it. */
  readonly around?: (work: () => Promise<void>) => Promise<void>;
}

/** Run a command line. Never throws: errors are shown, and become an exit code. */
export async function runCommandLine(words: readonly string[], surroundings: Surroundings): Promise<number> {
  const { around = (work) => work() } = surroundings;
  const console = safeConsole(surroundings.console);
  try {
    await around(() => dispatch(words, { ...surroundings, console }));
    return 0;
  } catch (cause) {
    const error = told(cause);
    console.writeError(errorText(error, words.includes('--json'), console));
    return exitCodeOf(error);
  }
}

/** A refusal of the file system is no mistake of the program. */
function told(error: unknown): unknown {
  const path = error instanceof Error ? (error as NodeJS.ErrnoException).path : undefined;
  if (path === undefined) return error;
  return writeError(error, path, 'Nothing more was written', 'run the same command again');
}

async function dispatch([name, ...line]: readonly string[], surroundings: Surroundings): Promise<void> {
  const { commands, version, console, interrupts } = surroundings;
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    const topic = name === 'help' ? commands.find((command) => command.name === line[0]) : undefined;
    console.write(topic ? await commandHelp(topic, [], console) : overviewHelp(commands, version, console));
    return;
  }
  if (name === '--version' || name === '-v') {
    console.write(`${version}\n`);
    return;
  }
  const command = commands.find((candidate) => candidate.name === name);
  if (command === undefined) throw unknownCommand(name, commands);
  if (line.includes('--help') || line.includes('-h')) {
    console.write(await commandHelp(command, line, console));
    return;
  }
  await command.run({ ...parseLine(command, line), console, interrupts });
}

function unknownCommand(name: string, commands: readonly Command[]): TurnwiseError {
  const names = commands.map((command) => command.name);
  const near = nearest(name, names);
  return new TurnwiseError('command-unknown', {
    what: `There is no command "${name}"`,
    allowed: names.join(', '),
    next: near ? `Did you mean "turnwise ${near}"?` : 'See: turnwise --help',
    fields: { command: name },
  });
}

/** Our own errors as their message; anything else is a mistake of the program, and shown with its stack. */
function errorText(error: unknown, json: boolean, { columns, colour }: Console): string {
  const known = TurnwiseError.isInstance(error);
  if (json) {
    const message = error instanceof Error ? error.message : String(error);
    const fields = known ? error.fields : {};
    return `${JSON.stringify({ error: { code: known ? error.code : 'internal', message, fields } })}\n`;
  }
  const paint = painter(colour);
  if (exitCodeOf(error) === 130) return `${known ? error.message : 'Interrupted.'}\n`;
  if (!known)
    return `${paint('red', 'internal error')} ${error instanceof Error ? error.stack : String(error)}\n`;
  const [first, ...rest] = wrap(`error: ${visible(error.message)}`, columns);
  return `${[first!.replace('error:', () => paint('red', 'error:')), ...rest].join('\n')}\n${paint('dim', `(${error.code})`)}\n`;
}
