/** The world `command`: a command-line agent whose parts are options, so that runs find it again by their settings. */

import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import type { Json } from '../../core/json/json.ts';
import { defineAgent } from '../agent.ts';
import { defineWorld, type WorldFactory } from '../factory.ts';
import { fromAgent } from '../from-agent.ts';
import { tasksIn } from '../tasks/tasks.ts';
import type { World } from '../world.ts';
import { defineCommandAgent } from './node/command-agent.ts';

/** Its name among worlds, and that of its runs. */
export const COMMAND = 'command';

const MEBIBYTE = 2 ** 20;

const options = z.strictObject({
  command: z.string().default('').describe('Command line of an episode (--command)'),
  tasks: z.string().default('').describe('File of tasks (--tasks): JSON Lines, JSON or CSV'),
  check: z.string().default('').describe('Command line that says what the episode was worth (--check)'),
  folder: z.string().default('').describe('Folder in which the files are found; default: the present one'),
  files: z.string().default('').describe('Folder whose files each episode begins with (--files)'),
  env: z.string().default('').describe('Names of variables that the commands may read, with commas between'),
  timeMs: z.int().min(1).default(600_000).describe('Longest that an episode’s command may take'),
  checkTimeMs: z.int().min(1).default(60_000).describe('Longest that the check may take'),
  memoryMb: z.int().min(1).default(2048).describe('Memory of all processes of a command, in MiB'),
  outputKb: z.int().min(1).default(10_240).describe('Output of a command, in KiB'),
  maxCalls: z.int().min(1).default(32).describe('Calls of an episode; the next one is refused'),
});

export const commandWorld: WorldFactory<typeof options> = defineWorld({
  name: COMMAND,
  description: 'A program that talks to a model, and another that checks what it did',
  options,
  // Each episode is processes.
  settings: { rollout: { concurrency: 16 } },
  create({ command, tasks, check, folder: given, files, env, memoryMb, outputKb, ...limits }) {
    const missing = Object.entries({ command, tasks, check }).find(([, value]) => value.trim() === '');
    if (missing) return unfinished(missing[0]);
    const folder = given || process.cwd();
    const agent = defineCommandAgent({
      name: COMMAND,
      command,
      check,
      tasks,
      folder,
      ...(files !== '' && { files }),
      env: env.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()])),
      memoryBytes: memoryMb * MEBIBYTE,
      outputBytes: outputKb * 1024,
      ...limits,
    });
    return tasksIn(fromAgent(agent), folder);
  },
});

/** Its settings are asked for before anybody plays it, and may be known only later. */
function unfinished(part: string): World {
  const refuse = (): never => {
    throw incomplete(part);
  };
  return fromAgent(defineAgent<Json>({ name: COMMAND, tasks: refuse, run: refuse }));
}

function incomplete(part: string): TurnwiseError {
  return new TurnwiseError('agent-invalid', {
    what: `A command-line agent needs --${part}`,
    seen: 'nothing',
    allowed: '--command, --tasks and --check together',
    next: `For example: turnwise train --command 'node my-agent.js' --tasks tasks.jsonl --check 'node check.js'`,
  });
}
