/** The options of commands that take a command-line agent in place of a named environment. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { TurnwiseError } from '../core/errors.ts';
import { COMMAND } from '../env/command/command-world.ts';
import type { Command } from './command.ts';

export const commandAgentOptions = {
  command: z
    .string()
    .optional()
    .describe(
      'In place of ENVIRONMENT: a command line that plays an episode by asking the model at OPENAI_BASE_URL',
    ),
  check: z
    .string()
    .optional()
    .describe(
      'With --command: a command line that says what the episode was worth, by its status or its last line',
    ),
  files: z.string().optional().describe('With --command: a folder whose files each episode begins with'),
};

interface Given {
  readonly command?: string | undefined;
  readonly tasks?: string | undefined;
  readonly check?: string | undefined;
  readonly files?: string | undefined;
}

/** A world that a command line names, and what its flags set of the world's own options. */
export interface NamedWorld {
  readonly name: string;
  readonly assignments: readonly string[];
}

const EXAMPLE = `turnwise train --command 'node my-agent.js' --tasks tasks.jsonl --check 'node check.js'`;

/**
 * The environment that is named, or the command-line agent.
 *
 * @param tasks of the command-line agent: a file
 * @throws TurnwiseError `argument-missing` where there is neither, `argument-extra` where there are both, `option-value` for a
 * part that is missing or that nothing asks for
 */
export function namedWorld(
  { name, arguments: expected, examples }: Pick<Command, 'name' | 'arguments' | 'examples'>,
  named: string | undefined,
  { command, tasks, check, files }: Given,
): NamedWorld {
  if (command === undefined) {
    const stray = Object.entries({ '--tasks': tasks, '--check': check, '--files': files }).find(
      ([, value]) => value !== undefined,
    );
    if (stray) throw partial(`${stray[0]} belongs to --command`, `${stray[0]} ${stray[1]} without --command`);
    if (named !== undefined) return { name: named, assignments: [] };
    const [argument] = expected;
    throw new TurnwiseError('argument-missing', {
      what: `turnwise ${name} needs ${argument!.name.toUpperCase()}: ${argument!.description}; or --command`,
      ...(examples[0] && { next: `For example: ${examples[0]}` }),
      fields: { command: name, argument: argument!.name },
    });
  }
  if (named !== undefined) {
    throw new TurnwiseError('argument-extra', {
      what: `turnwise ${name} takes an environment or --command, and not both`,
      seen: `${named} and --command ${command}`,
      next: 'Leave one of them out',
      fields: { command: name },
    });
  }
  const [missing] =
    Object.entries({ '--tasks': tasks, '--check': check }).find(([, value]) => value === undefined) ?? [];
  if (missing) throw partial(`--command needs ${missing}`, `--command ${command} without ${missing}`);
  if (!existsSync(tasks!)) throw noFile(tasks!);
  const folder = process.cwd();
  const parts = {
    command,
    check,
    folder,
    tasks: resolve(tasks!),
    ...(files !== undefined && { files: resolve(files) }),
  };
  return {
    name: COMMAND,
    assignments: Object.entries(parts).map(([key, value]) => `${key}=${value}`),
  };
}

function noFile(tasks: string): TurnwiseError {
  return new TurnwiseError('option-value', {
    what: 'There is no such file of tasks',
    seen: `--tasks ${tasks}`,
    allowed: 'a .jsonl, .json or .csv file with a task a line, an element or a record',
    next: 'Check the path',
    fields: { option: '--tasks' },
  });
}

function partial(what: string, seen: string): TurnwiseError {
  return new TurnwiseError('option-value', {
    what,
    seen,
    allowed: '--command, --tasks and --check together',
    next: `For example: ${EXAMPLE}`,
  });
}
