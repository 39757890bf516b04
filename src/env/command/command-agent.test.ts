/** Command-line agents: what they are given, what their checks say, and that nothing of them stays behind. */

import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { Json } from '../../core/json/json.ts';
import type { AgentEpisode, AgentResult } from '../agent.ts';
import { keptFolder, OWNER_MARK } from '../runtime/node/keeper.ts';
import { MARK } from '../runtime/node/processes.ts';
import { commandWorld } from './command-world.ts';
import { anchored } from './node/anchored.ts';
import { type CommandAgentDefinition, defineCommandAgent } from './node/command-agent.ts';
import { Tail } from './node/tail.ts';
import { verdictOf } from './verdict.ts';

const onLinux = existsSync('/proc/self/environ');
const folder = mkdtempSync(join(tmpdir(), 'turnwise-command-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// Other tests run beside this one, and their processes are none of its business.
const { owner, folder: unused } = await keptFolder();
rmSync(unused, { recursive: true });

/** Living processes that commands of this process started, or those with something else in their environment. */
function left(having = `${OWNER_MARK}=${owner}`): string[] {
  if (!onLinux) return [];
  return readdirSync('/proc').filter((name) => {
    try {
      const environment = readFileSync(`/proc/${name}/environ`, 'latin1');
      const state = readFileSync(`/proc/${name}/stat`, 'latin1').replace(/^.*\) /s, '')[0];
      return environment.includes(`${MARK}=`) && environment.includes(having) && state !== 'Z';
    } catch {
      return false;
    }
  });
}
const folders: string[] = [];
afterEach(() => {
  expect(left()).toEqual([]);
  for (const path of folders.splice(0)) expect(existsSync(path)).toBe(false);
});

type Parts = Partial<Omit<CommandAgentDefinition, 'tasks'>> & {
  readonly task?: Json;
  readonly signal?: AbortSignal;
};

async function play({
  task = { n: 1 },
  signal = new AbortController().signal,
  ...parts
}: Parts): Promise<AgentResult> {
  const agent = defineCommandAgent<Json>({
    name: 'program',
    command: 'true',
    check: 'true',
    folder,
    tasks: [1],
    ...parts,
  });
  const episode: AgentEpisode = {
    task,
    baseURL: 'http://127.0.0.1:1/sessions/s/v1',
    anthropicBaseURL: 'http://127.0.0.1:1/sessions/s',
    apiKey: 'tw-key',
    model: 'policy',
    signal,
    user: (name) => {
      throw new Error(`no user ${name}`);
    },
    reward: () => {},
  };
  return agent.run(episode);
}

/** Runs a command that prints JSON; the check hands it on. */
async function told(command: string, parts: Parts = {}): Promise<Record<string, Json>> {
  const check = `printf '{"reward":1,"info":%s}\\n' "$(cat "$TURNWISE_OUTPUT")"`;
  const { info } = await play({ command, check, ...parts });
  return info as Record<string, Json>;
}

describe('an episode', () => {
  test('begins with the task, its files and copies of a folder, and is told where the model is', async () => {
    mkdirSync(join(folder, 'start', 'deep'), { recursive: true });
    writeFileSync(join(folder, 'start', 'deep', 'seed.txt'), 'seed');
    writeFileSync(
      join(folder, 'look.mjs'),
      `import { readFileSync, readdirSync } from 'node:fs';
      const { TURNWISE_TASK, TURNWISE_TASK_FILE, ...env } = process.env;
      console.log(JSON.stringify({ cwd: process.cwd(), env, task: JSON.parse(TURNWISE_TASK),
        file: JSON.parse(readFileSync(TURNWISE_TASK_FILE, 'utf8')), files: readdirSync('.', { recursive: true }).sort() }));`,
    );
    process.env.TURNWISE_TEST_SECRET = 'hush';
    process.env.TURNWISE_TEST_OPEN = 'fine';
    try {
      const task = { n: 1, files: { 'a/b.txt': 'text' } };
      const seen = await told('node look.mjs', { task, files: 'start', env: ['TURNWISE_TEST_OPEN'] });
      expect(seen.task).toEqual(task);
      expect(seen.file).toEqual(task);
      expect(seen.files).toEqual(['a', 'a/b.txt', 'deep', 'deep/seed.txt', 'task.json']);
      const env = seen.env as Record<string, string>;
      expect(env).toMatchObject({
        OPENAI_BASE_URL: 'http://127.0.0.1:1/sessions/s/v1',
        OPENAI_API_KEY: 'tw-key',
        OPENAI_MODEL: 'policy',
        ANTHROPIC_BASE_URL: 'http://127.0.0.1:1/sessions/s',
        ANTHROPIC_API_KEY: 'tw-key',
        ANTHROPIC_MODEL: 'policy',
        TURNWISE_TEST_OPEN: 'fine',
        HOME: seen.cwd,
      });
      expect(env).not.toHaveProperty('TURNWISE_TEST_SECRET');
      folders.push(String(seen.cwd));
    } finally {
      delete process.env.TURNWISE_TEST_SECRET;
      delete process.env.TURNWISE_TEST_OPEN;
    }
  });

  test('has a folder of its own, and shares nothing with others at the same time', async () => {
    const command =
      'echo here >> mark.txt; sleep 0.1; printf \'{"cwd":"%s","lines":%s}\' "$PWD" "$(wc -l < mark.txt)"';
    const seen = await Promise.all([1, 2, 3].map(() => told(command)));
    expect(seen.map(({ lines }) => lines)).toEqual([1, 1, 1]);
    expect(new Set(seen.map(({ cwd }) => cwd)).size).toBe(3);
    folders.push(...seen.map(({ cwd }) => String(cwd)));
  });

  test('the check does not get the key of the model, and finds what the command left and printed', async () => {
    const check =
      'printf \'{"reward":2,"info":"%s %s %s"}\' "$OPENAI_API_KEY" "$(cat made.txt)" "$(cat "$TURNWISE_OUTPUT")"';
    const result = await play({ command: 'echo made > made.txt; echo said', check });
    expect(result).toEqual({ reward: 2, success: true, info: ' made said' });
  });

  test('a long task is in the file alone', async () => {
    const task = { text: 'x'.repeat(200_000) };
    const command = `printf '{"length":%s,"variable":"%s"}' "$(wc -c < "$TURNWISE_TASK_FILE")" "\${TURNWISE_TASK-none}"`;
    expect(await told(command, { task })).toEqual({ length: 200_012, variable: 'none' });
  });
});

describe('a command that goes wrong ends its episode', () => {
  test.each<[string, Parts, string]>([
    [
      'ends with a status',
      { command: 'echo oh no >&2; exit 3' },
      'it ended with status 3, after it printed: oh no',
    ],
    ['is not there', { command: 'no-such-program' }, 'it ended with status 127'],
    ['is killed', { command: 'kill -9 $$' }, 'it was ended by SIGKILL'],
    ['hangs', { command: 'sleep 1000', timeMs: 200 }, 'it took longer than 200 ms'],
    ['hangs in what it started', { command: 'sleep 1000 & wait', timeMs: 200 }, 'it took longer than 200 ms'],
    [
      'floods',
      { command: 'yes xxxxxxxxxxxxxxxxxxxx', outputBytes: 100_000 },
      'it printed more than 100000 bytes',
    ],
  ])('%s', async (_case, parts, message) => {
    await expect(play(parts)).rejects.toThrow(message);
  });

  test.skipIf(!onLinux)('takes too much memory', async () => {
    const hoard = `node -e 'const kept = []; setInterval(() => kept.push(Buffer.alloc(20e6, 1)), 10)'`;
    const memoryBytes = 300 * 2 ** 20;
    await expect(play({ command: hoard, memoryBytes, timeMs: 20_000 })).rejects.toThrow('bytes of memory');
  });

  test('nobody waits for what it leaves running', async () => {
    const result = await play({ command: 'sleep 1000 & setsid sleep 1000 & echo fine' });
    expect(result.reward).toBe(1);
  });

  test('the signal of the episode ends it', async () => {
    const over = new AbortController();
    setTimeout(() => over.abort(new Error('over')), 100);
    await expect(play({ command: 'sleep 1000', signal: over.signal })).rejects.toThrow('over');
  });
});

describe('the check', () => {
  const end = (status: number, output = ''): Parameters<typeof verdictOf>[0] => ({
    status,
    output,
    errors: '',
  });

  test.each<[number, string, AgentResult]>([
    [0, '', { reward: 1, success: true }],
    [1, 'not ok 3 - adds', { reward: 0, success: false }],
    [0, 'ran 3 tests\n0.75\n', { reward: 0.75, success: true }],
    [1, '0.75', { reward: 0.75, success: false }],
    [0, '-1', { reward: -1, success: false }],
    [0, '{"reward":0.5}', { reward: 0.5, success: true }],
    [0, '{"reward":0.5,"success":false}', { reward: 0.5, success: false }],
    [0, '{"success":true}', { reward: 1, success: true }],
    [1, '{"success":false}', { reward: 0, success: false }],
    [
      0,
      'x\n{"reward":1,"metrics":{"lines":3},"info":["a"]}\n\n',
      { reward: 1, success: true, metrics: { lines: 3 }, info: ['a'] },
    ],
    [0, '{"tests": 3}', { reward: 1, success: true }],
    [1, '{broken', { reward: 0, success: false }],
    [0, '3 passed', { reward: 1, success: true }],
  ])('status %d, %j', (status, output, result) => {
    expect(verdictOf(end(status, output))).toEqual(result);
  });

  test.each([
    [end(2, 'Usage: check'), 'Seen: status 2, after it printed: Usage: check'],
    [{ ended: 'it took longer than 5 ms', output: '', errors: '' }, 'Seen: it took longer than 5 ms'],
    [end(0, '{"reward":"much"}'), '"much" as reward'],
    [end(0, '{"reward":1,"success":"yes"}'), '"yes" as success'],
    [end(0, '{"reward":1,"sucess":true}'), '"sucess" in its result'],
    [end(0, '1e999'), '1e999'],
  ])('that fails says nothing of the episode: %j', (given, message) => {
    expect(() => verdictOf(given)).toThrow(message);
    try {
      verdictOf(given);
    } catch (error) {
      expect(error).toMatchObject({ code: 'check-failed', fields: { origin: 'grader' } });
    }
  });

  test('that hangs is ended', async () => {
    await expect(play({ check: 'sleep 1000', checkTimeMs: 200 })).rejects.toMatchObject({
      code: 'check-failed',
    });
  });
});

test.skipIf(!onLinux)('nothing is left when Turnwise itself is killed', { timeout: 30_000 }, async () => {
  const place = mkdtempSync(join(tmpdir(), 'turnwise-killed-'));
  const module = new URL('../../../dist/src/exports/index.js', import.meta.url).pathname;
  const program = `
    const { defineCommandAgent } = await import(${JSON.stringify(module)});
    const agent = defineCommandAgent({ name: 'program', tasks: [1], check: 'true',
      command: 'touch made; sleep 1000 & setsid sleep 1000 & echo; sleep 1000' });
    void agent.run({ task: 1, baseURL: 'x', anthropicBaseURL: 'x', apiKey: 'x', model: 'x', signal: new AbortController().signal });
    setTimeout(() => process.stdout.write('ready'), 1500);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...process.env, TMPDIR: place },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  expect(left(place).length).toBeGreaterThan(2);
  child.kill('SIGKILL');
  await expect.poll(() => [left(place), readdirSync(place)], { timeout: 15_000 }).toEqual([[], []]);
  rmSync(place, { recursive: true });
});

test('words that name files of the folder are found from any other', () => {
  mkdirSync(join(folder, 'a dir'), { recursive: true });
  for (const name of ['agent.js', 'a dir/x.js', 'test']) writeFileSync(join(folder, name), '');
  const made = (command: string): string => anchored(command, folder).replaceAll(folder, 'FOLDER');
  expect(made('node agent.js --fast')).toBe('node FOLDER/agent.js --fast');
  expect(made('./agent.js  < in.txt')).toBe('FOLDER/agent.js  < in.txt');
  expect(made('node other.js "agent.js" test')).toBe('node other.js "agent.js" test');
  expect(made('cd .. && ls a')).toBe('cd .. && ls a');
});

test('the end of what was printed is kept', () => {
  const tail = new Tail(5);
  for (const text of ['ab', 'cdef', '', 'ghi']) tail.add(Buffer.from(text));
  expect(tail.text()).toBe('efghi');
});

test.each([
  [{ command: ' ' }, 'command'],
  [{ check: undefined as never }, 'check'],
  [{ timeMs: 0 }, 'timeMs'],
  [{ memoryBytes: Number.NaN }, 'memoryBytes'],
  [{ files: 'nowhere' }, 'files'],
])('a definition that cannot be used: %o', (wrong, part) => {
  const made = () =>
    defineCommandAgent({ name: 'program', command: 'true', check: 'true', folder, tasks: [1], ...wrong });
  expect(made).toThrow(part);
});

test('the world of a command line needs all three parts', () => {
  const create = (given: object) => commandWorld.create(commandWorld.options.parse(given));
  // Help and recipes look at it before its parts are known.
  expect(() => create({}).tasks('train')).toThrow('needs --command');
  expect(() => create({ command: 'x', tasks: 'y' }).tasks('train')).toThrow('needs --check');
  writeFileSync(join(folder, 'tasks.jsonl'), '{"n":1}\n{"n":2}\n{"n":3}\n');
  const world = create({ command: 'true', check: 'true', tasks: 'tasks.jsonl', folder });
  expect([world.name, world.agent?.maxCalls]).toEqual(['command', 32]);
  expect(world.tasks('train').size).toBeGreaterThan(0);
});
