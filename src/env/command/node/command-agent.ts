/** An agent that is a program of any language: each episode runs its command, and another command checks what it did. */

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { TurnwiseError } from '../../../core/errors.ts';
import type { Json, JsonObject } from '../../../core/json/json.ts';
import type { JsonCompatible } from '../../../core/json/json-compatible.ts';
import {
  type Agent,
  type AgentDefinition,
  type AgentEpisode,
  type AgentResult,
  defineAgent,
} from '../../agent.ts';
import { verdictOf } from '../verdict.ts';
import { anchored } from './anchored.ts';
import { type CommandEnd, type CommandLimits, CommandPlace } from './command-place.ts';

export interface CommandAgentDefinition<Task = Json> extends Omit<AgentDefinition<Task>, 'run'> {
  /** A command line of a shell, such as `node my-agent.js`: one episode. */
  readonly command: string;
  /** Another, which says what the episode was worth. */
  readonly check: string;
  /** Where files that the commands name are found, and the `node_modules` whose programs they may run. Default: the working directory. */
  readonly folder?: string;
  /** A folder whose files each episode begins with, as copies. */
  readonly files?: string;
  /** Names of variables of the environment that the commands may read. Default: none but PATH. */
  readonly env?: readonly string[];
  /** Milliseconds that the command may take. Default: 10 minutes. */
  readonly timeMs?: number;
  /** Milliseconds that the check may take. Default: 1 minute. */
  readonly checkTimeMs?: number;
  /** Memory of all its processes together, in bytes, watched where the system has `/proc`. Default: 2 GiB. */
  readonly memoryBytes?: number;
  /** Bytes that it may print. Default: 10 MiB. */
  readonly outputBytes?: number;
}

/** Longest task that the environment carries; the file always has it. */
const LONGEST_VARIABLE = 100_000;

/**
 * An agent that is a program. Each episode has a working folder of its own, with copies of `files`, the entries of the task's
 * `files` (path to text) and `task.json`. The command finds the model by OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL, or by
 * ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY and ANTHROPIC_MODEL, and the task by TURNWISE_TASK_FILE and, where it is short,
 * TURNWISE_TASK. The check runs in the same folder afterwards and finds what the command printed by TURNWISE_OUTPUT: its exit status, or
 * a number or a JSON object on its last line, is the result.
 *
 * A command that ends with another status than 0, is killed or meets a limit ends its episode as an agent that throws. No
 * process and no folder is left behind.
 *
 * @throws TurnwiseError `agent-invalid`
 *
 * @example
 * export const agent = defineCommandAgent({
 *   name: 'coder',
 *   command: 'node my-agent.js',
 *   check: 'node check.js',
 *   tasks: 'tasks.jsonl',
 *   folder: import.meta.dirname,
 * });
 */
export function defineCommandAgent<Task extends JsonCompatible<Task>>(
  definition: CommandAgentDefinition<Task>,
): Agent<Task> {
  const { command, check, folder = process.cwd(), files, env = [], ...rest } = definition;
  const {
    timeMs = 600_000,
    checkTimeMs = 60_000,
    memoryBytes = 2 ** 31,
    outputBytes = 10 * 2 ** 20,
    ...agent
  } = rest;
  for (const [part, line] of Object.entries({ command, check })) {
    if (typeof line !== 'string' || line.trim() === '')
      throw invalid(part, JSON.stringify(line) ?? 'nothing', 'a command line, such as "node my-agent.js"');
  }
  for (const [part, limit] of Object.entries({ timeMs, checkTimeMs, memoryBytes, outputBytes })) {
    if (!(limit > 0)) throw invalid(part, String(limit), 'a number above 0');
  }
  const from = files === undefined ? undefined : resolve(folder, files);
  if (from !== undefined && !existsSync(from)) throw invalid('files', from, 'a folder that exists');
  const commands = { run: anchored(command, folder), check: anchored(check, folder) };
  const limits = { memoryBytes, outputBytes };
  const passed = () => ({
    PATH: [join(folder, 'node_modules', '.bin'), process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin'].join(
      ':',
    ),
    ...Object.fromEntries(env.flatMap((name) => pairOf(name, process.env[name]))),
  });
  return defineAgent<Task>({
    // Each episode is processes.
    settings: { rollout: { concurrency: 16 } },
    ...agent,
    run: async (episode) => {
      const place = await CommandPlace.create();
      try {
        if (from !== undefined) await place.fill(from);
        const variables = { ...passed(), ...(await writeTask(place, episode.task as Json)) };
        const ran = await place.run(
          commands.run,
          { ...variables, ...modelVariables(episode) },
          { ...limits, timeMs },
          episode.signal,
        );
        requireEnd(ran, { ...limits, timeMs });
        const output = await place.writeBeside('output.txt', ran.output);
        return await checked(
          place,
          commands.check,
          { ...variables, TURNWISE_OUTPUT: output },
          episode.signal,
          {
            ...limits,
            timeMs: checkTimeMs,
          },
        );
      } finally {
        await place.close();
      }
    },
  });
}

const pairOf = (name: string, value: string | undefined): (readonly [string, string])[] =>
  value === undefined ? [] : [[name, value]];

/** Under the names that clients read by default. */
function modelVariables({
  baseURL,
  anthropicBaseURL,
  apiKey,
  model,
}: Pick<AgentEpisode, 'baseURL' | 'anthropicBaseURL' | 'apiKey' | 'model'>): Record<string, string> {
  return {
    OPENAI_BASE_URL: baseURL,
    OPENAI_API_BASE: baseURL,
    OPENAI_API_KEY: apiKey,
    OPENAI_MODEL: model,
    ANTHROPIC_BASE_URL: anthropicBaseURL,
    ANTHROPIC_API_KEY: apiKey,
    ANTHROPIC_MODEL: model,
  };
}

/** The entries of a task's `files`. */
function filesOf(task: Json): JsonObject {
  const { files = {} } = isObject(task) ? task : {};
  return isObject(files) ? files : {};
}

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Writes the task and its files. @returns the variables that lead to it */
async function writeTask(place: CommandPlace, task: Json): Promise<Record<string, string>> {
  const text = JSON.stringify(task);
  for (const [path, content] of Object.entries(filesOf(task))) {
    if (typeof content === 'string') await place.write(path, content);
  }
  await place.write('task.json', `${text}\n`);
  return {
    TURNWISE_TASK_FILE: join(place.folder, 'task.json'),
    ...(text.length <= LONGEST_VARIABLE && { TURNWISE_TASK: text }),
  };
}

async function checked(
  place: CommandPlace,
  check: string,
  variables: Readonly<Record<string, string>>,
  signal: AbortSignal,
  limits: CommandLimits,
): Promise<AgentResult> {
  const end = await place.run(check, variables, limits, signal);
  const ended = endedBy(end, limits);
  return verdictOf({ ...end, ...(ended !== undefined && { ended }) });
}

/** @throws Error as an agent throws that cannot go on */
function requireEnd(end: CommandEnd, limits: CommandLimits): void {
  if (end.status === 0) return;
  const why = endedBy(end, limits) ?? `it ended with status ${end.status}`;
  const said = (end.errors.trim() || end.output.trim()).slice(-500);
  throw new Error(`the command: ${why}${said === '' ? '' : `, after it printed: ${said}`}`);
}

/** Why it did not end by itself, where it did not. */
function endedBy({ limit, killed }: CommandEnd, limits: CommandLimits): string | undefined {
  switch (limit) {
    case 'time':
      return `it took longer than ${limits.timeMs} ms`;
    case 'memory':
      return `it took more than ${limits.memoryBytes} bytes of memory`;
    case 'processes':
      return 'it had too many processes';
    case 'output':
      return `it printed more than ${limits.outputBytes} bytes`;
    default:
      return killed === undefined ? undefined : `it was ended by ${killed}`;
  }
}

function invalid(part: string, seen: string, allowed: string): TurnwiseError {
  return new TurnwiseError('agent-invalid', {
    what: `A command-line agent cannot be used because of ${part}`,
    seen,
    allowed,
    next: 'Give --command, --tasks and --check; see docs/train-your-agent.md',
  });
}
