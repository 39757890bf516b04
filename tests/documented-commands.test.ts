/** Every command of README, guides and environment pages runs as it stands there, with less to do and against stand-ins. */

import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { runCommandLine } from '../src/cli/command-line.ts';
import { commands } from '../src/cli/commands.ts';
import { writeExampleRun } from '../src/cli/example-run.test-helper.ts';
import { memoryConsole, noInterrupts } from '../src/cli/testing-console.test-helper.ts';
import { version } from '../src/run/version.ts';
import { annotate } from '../src/view/server/annotations.ts';
import { Groups } from '../src/view/server/groups.ts';
import { RunsFolder } from '../src/view/server/runs-folder.ts';
import { type CommandPlace, makePlace, placeGguf } from './commands/place.ts';
import { filledIn, rewired, shortening, shorterWords } from './commands/shorter.ts';
import { commandsOf, pages, wordsOf } from './commands/shown.ts';
import { type StandIns, startStandIns } from './commands/stand-ins.ts';

const root = new URL('..', import.meta.url).pathname;
/** Pages whose commands other tests run: examples/credit-commands.test.ts and tests/python-page.test.ts. */
const ELSEWHERE = ['docs/credit-methods.md', 'docs/python-environments.md'];
const TURNWISE = /^((?:\w+=\S+ )*)(?:npx )?turnwise /;

const shown = pages()
  .filter((page) => !ELSEWHERE.includes(page))
  .flatMap(commandsOf);

let place: CommandPlace;
let servers: StandIns;
const stdin = Object.getOwnPropertyDescriptor(process, 'stdin')!;
const home = process.cwd();

beforeAll(async () => {
  if (!existsSync(`${root}dist/src/exports/index.js`)) throw new Error('run "npm run build" first');
  place = makePlace();
  process.chdir(place.folder);
  servers = await startStandIns(place.folder);
  stubs();
  await makeRuns();
}, 300_000);
afterAll(async () => {
  await servers.close();
  process.chdir(home);
  place.remove();
}, 60_000);
function stubs(): void {
  for (const [name, value] of Object.entries(place.environment)) vi.stubEnv(name, value);
  // Prompts of who plays go to the terminal itself.
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
}
beforeEach(stubs);
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  Object.defineProperty(process, 'stdin', stdin);
});

interface Ended {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/** Commands that go on until Ctrl-C, and what they say when they are ready. */
const SERVES = /^(gateway|serve|env serve|view(?!.*--(bundle|annotations)))( |$)/;

/** @param enough asked after every step of a run, which ends once it says so */
async function inProcess(words: readonly string[], enough: () => boolean = () => false): Promise<Ended> {
  const console = memoryConsole({ columns: 100 });
  const ended = new AbortController();
  const input = new PassThrough();
  input.end('?\n'.repeat(400));
  Object.defineProperty(process, 'stdin', { value: input, configurable: true });
  const said = (): string => console.output() + console.errors();
  const done = runCommandLine(words, {
    commands,
    version: '0.1.0',
    console,
    interrupts: { ...noInterrupts, signal: ended.signal, soften: () => enough },
  });
  if (SERVES.test(words.join(' ')) && !words.includes('--help')) {
    const isReady = (): boolean => /(https?:\/\/|turnwise:http)\S+/.test(said());
    await Promise.race([done, vi.waitUntil(isReady, { timeout: 60_000, interval: 20 })]);
    ended.abort();
  }
  const code = await done;
  return { code, output: console.output(), errors: console.errors() };
}

/** What starts processes of the same program needs to be one. */
function inChild(words: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const line = [`${root}dist/src/cli/main.js`, ...words];
    execFile(process.execPath, line, { cwd: place.folder, timeout: 200_000 }, (error, output, errors) =>
      resolve({ code: error === null ? 0 : 1, output, errors }),
    );
  });
}

/** Runs a command; settings that the test adds and that do not fit are left out, as the refusal says. */
async function run(words: readonly string[]): Promise<Ended> {
  const [name] = words;
  const shorter = shorterWords(words);
  // Another page may have written it already, and nothing is replaced without being told to.
  const written = words[words.findIndex((word) => word === '--to' || word === '--out') + 1];
  if (written !== name) rmSync(written!, { recursive: true, force: true });
  const isTrained = (name === 'train' || name === 'compare') && !words.includes('--claim');
  let more = isTrained && !words.includes('--help') ? shortening(words) : [];
  for (;;) {
    const line = [...shorter, ...more.flatMap((setting) => ['--set', setting])];
    const ended = await (name === 'compare' || words.includes('--view') ? inChild(line) : inProcess(line));
    const unfit = more.find((setting) => {
      const [key = ''] = setting.split('=');
      return ended.code !== 0 && new RegExp(`\\b${key.replace('.', '\\.')}\\b`).test(ended.errors);
    });
    if (unfit === undefined) return ended;
    more = more.filter((setting) => setting !== unfit);
  }
}

/** The runs that pages speak of: one of twelve steps, one that was stopped in the middle, of a game, an agent, a checkpoint. */
async function makeRuns(): Promise<void> {
  const lake = ['train', 'frozen-lake', '--set', 'rollout.tasks=2', '--set', 'rollout.group=4'];
  const steps = (words: readonly string[], count: number): string[] =>
    shortening(words)
      .map((setting) => (setting.startsWith('steps=') ? `steps=${count}` : setting))
      .flatMap((setting) => ['--set', setting]);
  const made = async (line: readonly string[], enough?: () => boolean): Promise<void> => {
    const { code, errors } = await inProcess(line, enough);
    if (code !== 0 && enough === undefined) throw new Error(`${line.join(' ')}: ${errors}`);
  };
  let asked = 0;
  // Well enough imitated that some episodes of a group succeed: pairs are made of it, and rewards learned.
  const taught = { demonstrations: 100, steps: 60, batch: 16 };
  const imitated = Object.entries(taught).flatMap(([key, value]) => ['--set', `clone.${key}=${value}`]);
  const wider = ['--set', 'model.width=32', '--set', 'model.hidden=64'];
  await made([...lake, '--name', 'frozen-lake-rloo-1', ...steps(lake, 12), ...imitated, ...wider]);
  await made(
    [...lake, '--recipe', 'grpo', '--name', 'frozen-lake-grpo-1', ...steps(lake, 12)],
    () => ++asked > 6,
  );
  await made([...lake, '--name', 'STOPPED', ...steps(lake, 3)], () => true);
  const poker = ['train', 'kuhn-poker', '--recipe', 'rloo', '--name', 'kuhn-poker-1'];
  await made([...poker, ...steps(poker, 2)]);
  const agent = ['train', './agent.ts', '--name', 'AGENT'];
  await made([...agent, ...steps(agent, 1)]);
  const read = ['train', 'guess-number', '--model', './my-model', '--name', 'RUN'];
  await made([...read, ...steps(read, 1)]);
  await made(['export', 'RUN', '--to', 'made.gguf', '--type', 'q8_0']);
  placeGguf(place.folder, `${place.folder}/made.gguf`);
  for (const name of ['a', 'b', 'c']) cpSync('runs/frozen-lake-rloo-1', `runs/${name}`, { recursive: true });
  // Of a group one member is good and one is not: a pair to learn from.
  const lakeRun = new RunsFolder({ root: 'runs', version }).find('frozen-lake-rloo-1');
  for (const [member, verdict] of ['up', 'down'].entries())
    await annotate(lakeRun, new Groups(), { place: '3', group: 0, member, verdict });
  cpSync('runs/frozen-lake-rloo-1', 'frozen-lake-browser-1', { recursive: true });
  execFileSync('tar', ['-cf', 'frozen-lake-browser-1.tar', 'frozen-lake-browser-1']);
}

/** What others install, serve or read. Of a clone, what is named must be there. */
function checkForeign(text: string): void {
  const scripts = (
    JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: Record<string, string> }
  ).scripts;
  const [, script, rest = ''] = /^npm (?:run )?([\w:]+)(.*)$/.exec(text) ?? [];
  if (script === 'ci' || script === 'install') return;
  if (script !== undefined) {
    expect(Object.keys(scripts), text).toContain(script);
    const [, bench] = /^ -- (\w[\w-]*)/.exec(rest) ?? [];
    if (script === 'bench' && bench) expect(readFileSync(`${root}bench/main.ts`, 'utf8')).toContain(bench);
  } else if (/^(bash|node) \S+$/.test(text)) {
    expect(existsSync(`${root}${text.split(' ')[1]}`), text).toBe(true);
  } else
    expect(
      FOREIGN.some((foreign) => foreign.test(text)),
      text,
    ).toBe(true);
}

/** A server that others wrote, and a key that the reader has. */
const FOREIGN = [/^JAX_PLATFORMS=cpu uv run .* skyrl\.tinker\.api /, /^export TINKER_API_KEY=/];
/** Lines for a shell that has these programs. */
const SHELL = /^(mkdir|tar|zcat|jq) /;
const hasJq = spawnSync('jq', ['--version']).status === 0;

/** Lines with numbers and gaps as one of each. */
const formOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) =>
      line
        .trim()
        .replaceAll(/[−-]?\d+(\.\d+)?/g, 'N')
        .replaceAll(/ +/g, ' '),
    )
    .filter((line) => line !== '' && line !== '…');

describe('output that pages show has the form of what commands print', () => {
  test('the end of a run', async () => {
    const [, block] = /```text\n(The agent learned.*?)```/s.exec(readFileSync(`${root}README.md`, 'utf8'))!;
    await writeExampleRun(`${place.folder}/runs`, 'example');
    const { output } = await inProcess(['runs', 'show', 'example']);
    expect(formOf(output)).toEqual(expect.arrayContaining(formOf(block!)));
  });

  test('another reward on stored episodes', async () => {
    const page = readFileSync(`${root}docs/write-an-environment.md`, 'utf8');
    const [, block] = /^```\n(\$ npx turnwise rescore.*?)```/ms.exec(page)!;
    const [command, head, ...lines] = block!.trim().split('\n');
    const words = wordsOf(command!.replace('$ npx turnwise ', '').replace(' lake ', ' frozen-lake-rloo-1 '));
    const { code, output, errors } = await inProcess(words);
    expect([code, errors]).toEqual([0, '']);
    const printed = formOf(output);
    expect(printed[0]).toBe(formOf(head!)[0]);
    // A step may have no successes, and then no score of them.
    const columns = (line: string): number => line.split(/ +/).length;
    for (const line of lines.filter((one) => one !== '…'))
      expect(printed.slice(1).map(columns)).toContain(columns(line.trim()));
  });
});

describe.each([...new Set(shown.map(({ page }) => page))])('%s', (page) => {
  const texts = shown.filter((one) => one.page === page).map(({ text }) => text);
  test.each([...new Set(texts)])('%s', { timeout: 240_000 }, async (text) => {
    if (SHELL.test(text)) {
      if (!text.includes('jq ') || hasJq) execFileSync('bash', ['-ceo', 'pipefail', text]);
      return;
    }
    const [, variables] = TURNWISE.exec(text) ?? [];
    if (variables === undefined) {
      checkForeign(text);
      return;
    }
    const told = rewired(filledIn(text), servers);
    for (const variable of wordsOf(variables)) {
      const [name, value] = variable.split(/=(.*)/s);
      vi.stubEnv(name!, rewired(value!, servers));
    }
    const ended = await run(wordsOf(told.replace(TURNWISE, '')));
    expect(ended, ended.errors).toMatchObject({ code: 0 });
  });
});
