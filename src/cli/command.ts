/** What a command is: a name, arguments, options as a schema, and what it does. */

import type { z } from 'zod';
import type { Console } from '../show/console.ts';
import type { Interrupts } from './interrupts.ts';

export interface Argument {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
  /** The last argument may come several times: all of them are in `words`. */
  readonly several?: boolean;
}

export interface Invocation<Options> {
  /** By the name of the argument; optional ones may be missing. */
  readonly arguments: Readonly<Record<string, string | undefined>>;
  readonly options: Options;
  /** All arguments, in their order. */
  readonly words: readonly string[];
  readonly console: Console;
  readonly interrupts: Interrupts;
}

export interface Command<Schema extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  readonly arguments: readonly Argument[];
  /** A strict object; each field is a flag and needs `.describe(...)`. */
  readonly options: Schema;
  /** What `--set` can change, for help; may depend on the arguments given beside `--help`. */
  settings?(given: readonly string[]): Promise<z.ZodType | undefined>;
  /** Command lines that people would type. */
  readonly examples: readonly string[];
  run(invocation: Invocation<z.output<Schema>>): Promise<void>;
}

export function defineCommand<Schema extends z.ZodObject>(command: Command<Schema>): Command<Schema> {
  return command;
}
