/** Runs that something happens to: the engine's thread is gone, a server stops answering, the clock is set. They go on, or say how to. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Child, type Ended } from './child.ts';
import { afterSteps, stepsOf } from './run-events.ts';
import { THINGS } from './strangers.ts';

const STEPS = 12;
/** Longer than the servers' deadlines, so that episodes fail, and shorter than many steps of failures. */
const STALL_MS = 12_000;
const DEADLINE_MS = 4000;
/** While it starts, while it imitates, and while it learns, on most machines. */
const ENGINE_LIVES_MS = [100, 400, 700, 1500, 4000] as const;

const small = [
  ...['model.width=32', 'model.hidden=64', 'model.layers=1', 'model.heads=2', 'threads=1', `steps=${STEPS}`],
  ...['clone.demonstrations=24', 'clone.steps=20', 'clone.batch=8', 'rollout.tasks=4', 'rollout.group=4'],
  ...['evaluation.every=0', 'evaluation.finalTasks=8', 'checkpoint.every=2'],
];
const settings = (more: readonly string[] = []): string[] =>
  [...small, ...more].flatMap((one) => ['--set', one]);

interface Survived {
  readonly exitCode: number | null;
  readonly saysHowToGoOn: boolean;
  /** Of `turnwise resume`, or of the same command again, where one was needed. */
  readonly resumedExitCode?: number | null;
  readonly steps: number;
  readonly failedEpisodes: number;
  /** Where it ended before its time. */
  readonly said?: string;
  readonly survives: boolean;
}

export async function disturbedRuns(folder: string): Promise<object> {
  const stalled: Record<string, Survived> = {};
  for (const kind of ['turnwise', 'openenv', 'agentgym', 'nemo'] as const)
    stalled[kind] = await stalledServer(folder, kind);
  const endedEngine: Record<string, Survived> = {};
  for (const ms of ENGINE_LIVES_MS) endedEngine[`after ${ms} ms`] = await engineEnded(folder, ms);
  return { endedEngine, stalled, clock: await setClock(folder) };
}

async function engineEnded(folder: string, ms: number): Promise<Survived> {
  const run = `ended-after-${ms}`;
  const line = ['train', 'frozen-lake', '--name', run, ...settings(['steps=60'])];
  const child = Child.turnwise(line, folder, { SOAK_END_ENGINE_AFTER_MS: String(ms) });
  return await survived(folder, run, await child.ended, line);
}

/** The whole process of the server is halted while episodes are played, and goes on later. */
async function stalledServer(folder: string, kind: keyof typeof servers): Promise<Survived> {
  const run = `stalled-${kind}`;
  const { server, address, more = [] } = await servers[kind](folder);
  const deadlines = [`rollout.turnTimeoutMs=${DEADLINE_MS}`, `environment.timeoutMs=${DEADLINE_MS}`];
  const child = Child.turnwise(
    ['train', address, '--name', run, ...settings([...deadlines, ...more])],
    folder,
  );
  try {
    const learns = await afterSteps(2, folder, run, child);
    if (learns) {
      server.signal('SIGSTOP');
      await Promise.race([sleep(STALL_MS), child.ended]);
      server.signal('SIGCONT');
    }
    return await survived(folder, run, await child.ended);
  } finally {
    server.signal('SIGCONT');
    await server.stop();
  }
}

async function setClock(folder: string): Promise<Survived> {
  const jumping = { SOAK_CLOCK_EVERY_MS: '300' };
  const server = Child.turnwise(['env', 'serve', 'frozen-lake', '--port', '0', '--json'], folder, jumping);
  const [, address] = await server.says(/"turnwise":"([^"]+)"/);
  const line = ['train', address!, '--name', 'set-clock', ...settings()];
  const ended = await Child.turnwise(line, folder, jumping).ended;
  await server.stop();
  const outcome = await survived(folder, 'set-clock', ended);
  return { ...outcome, survives: outcome.survives && outcome.failedEpisodes === 0 };
}

/**
 * Where it ended before its time it has to say how to go on, and that has to work.
 *
 * @param line the command, where it may have ended before there was anything to resume
 */
async function survived(
  folder: string,
  run: string,
  { code, output }: Ended,
  line?: readonly string[],
): Promise<Survived> {
  // The terminal wraps what it says.
  const said = output.replace(/\s+/g, ' ');
  const next = said.includes(`turnwise resume ${run}`)
    ? ['resume', run]
    : said.includes('give the same command again')
      ? line
      : undefined;
  const resumed = code === 0 || !next ? undefined : await Child.turnwise(next, folder).ended;
  // Steps after the last checkpoint are played again.
  const steps = new Map(stepsOf(folder, run).map((event) => [event.step, event]));
  const failed = [...steps.values()].map(({ metrics }) => metrics?.['episodes/failed'] ?? 0);
  return {
    exitCode: code,
    saysHowToGoOn: next !== undefined,
    ...(resumed && { resumedExitCode: resumed.code }),
    steps: steps.size,
    failedEpisodes: failed.reduce((sum, count) => sum + count, 0),
    ...(code !== 0 && { said: said.slice(said.lastIndexOf('error:')) }),
    survives: code === 0 || resumed?.code === 0,
  };
}

interface Server {
  readonly server: Child;
  readonly address: string;
  readonly more?: readonly string[];
}

async function own(folder: string, kind: 'turnwise' | 'openenv'): Promise<Server> {
  const server = Child.turnwise(['env', 'serve', 'frozen-lake', '--port', '0', '--json'], folder);
  const [, address] = await server.says(new RegExp(`"${kind}":"([^"]+)"`));
  return { server, address: address! };
}

async function stranger(folder: string, kind: 'agentgym' | 'nemo'): Promise<{ server: Child; url: string }> {
  const server = Child.module('strangers.js', [kind], folder);
  const [, url] = await server.says(/address (\S+)/);
  return { server, url: url! };
}

function jsonLines(folder: string, name: string, rows: readonly object[]): string {
  const path = join(folder, name);
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return path;
}

const servers = {
  turnwise: (folder: string) => own(folder, 'turnwise'),
  openenv: (folder: string) => own(folder, 'openenv'),
  agentgym: async (folder: string): Promise<Server> => {
    const { server, url } = await stranger(folder, 'agentgym');
    const rows = Array.from({ length: 8 }, (_, task) => ({ task, actions: [`craft ${THINGS[task % 4]}`] }));
    const demonstrations = jsonLines(folder, 'crafted.jsonl', rows);
    const more = [`environment.demonstrations=${demonstrations}`, 'environment.maxTurns=3'];
    return { server, address: `agentgym:${url}#textcraft`, more };
  },
  nemo: async (folder: string): Promise<Server> => {
    const { server, url } = await stranger(folder, 'nemo');
    const schema = { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] };
    const tools = [{ type: 'function', name: 'look_up', parameters: schema, strict: true }];
    const rows = Array.from({ length: 40 }, (_, index) => {
      const number = Math.floor(index / 10);
      const input = [{ role: 'user', content: `Which thing is number ${number} ?` }];
      return { responses_create_params: { input, tools }, expected: THINGS[number], number };
    });
    // The first two of ten are for validation and test.
    const solutions = rows
      .filter((_, index) => index % 10 > 1)
      .map(({ number, expected }, task) => ({
        task,
        actions: [{ name: 'look_up', arguments: { number } }, expected],
      }));
    const more = [
      `environment.data=${jsonLines(folder, 'tasks.jsonl', rows)}`,
      `environment.demonstrations=${jsonLines(folder, 'solutions.jsonl', solutions)}`,
      'environment.maxTurns=4',
    ];
    return { server, address: `nemo:${url}`, more };
  },
} as const;
