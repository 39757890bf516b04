import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { isPath } from '../../core/reference.ts';
import { Rng } from '../../core/rng.ts';
import { pureEnvironment } from './environments.ts';
import { loadFile } from './load-file.ts';

const repository = new URL('../../..', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'turnwise-files-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const environment = (name: string): string => `{
  name: '${name}', description: '', maxTurns: 1,
  tasks: () => ({ size: 1, at: () => 1 }),
  start: () => ({ state: 0, messages: [{ role: 'user', content: 'go' }] }),
  step: (state) => ({ state, observation: '', reward: 1, done: true, success: true, valid: true }),
  actions: () => ['go'], solve: () => 'go',
}`;

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test('names and paths', () => {
  expect(['./a.ts', 'a.ts', 'b/c', 'x.mjs', '../y.js', 'a.tsx', 'a.ts#x'].every(isPath)).toBe(true);
  expect(['frozen-lake', 'a.txt', 'rloo', 'a#x'].some(isPath)).toBe(false);
});

test('a file that exports one environment, also as its default', async () => {
  const path = write('one.mjs', `export const mine = ${environment('mine')};\nexport { mine as default };`);
  const factory = await loadFile(path);
  expect(factory).toMatchObject({ name: 'mine', source: path });
  expect(factory.create({}).roles).toEqual(['agent']);
});

test('the pure environment behind a name or a file, in its options, for wrappers', async () => {
  const path = write('inner.mjs', `export const inner = ${environment('inner')};`);
  expect((await pureEnvironment(path)).step(0, 'go', Rng.of('inner'))).toMatchObject({ success: true });
  const lake = await pureEnvironment('frozen-lake', { size: 5 });
  const rng = Rng.of('lake');
  const { state } = lake.start(lake.tasks('train').at(0), rng);
  expect(lake.actions!(state)).toContain(lake.solve!(state, rng));
  await expect(pureEnvironment('tictactoe')).rejects.toThrow('a game of several roles');
  await expect(pureEnvironment('js-tasks')).rejects.toThrow('live sessions');
  await expect(pureEnvironment('frozen-lake', { sise: 5 })).rejects.toThrow('sise');
});

test.each([
  ['nothing', 'export const x = 1;', /must export one agent.*none \(exports: x\)/],
  ['two', `export const a = ${environment('a')};\nexport const b = ${environment('b')};`, /Seen: a, b/],
  ['an error', 'throw new Error("oops");', /cannot be loaded. Seen: oops/],
])('a file with %s', async (name, text, message) => {
  const path = write(`${name.replace(' ', '-')}.mjs`, text);
  await expect(loadFile(path)).rejects.toThrow(message);
  await expect(loadFile(path)).rejects.toMatchObject({ code: 'file-unusable' });
});

test('a file that is not there', async () => {
  await expect(loadFile(join(folder, 'none.ts'))).rejects.toMatchObject({ code: 'file-unknown' });
});

test('an export chosen by name', async () => {
  const path = write(
    'several.ts',
    `export const first = ${environment('first')};\nexport const second = ${environment('second')};\nexport const x = 1;`,
  );
  expect(await loadFile(`${path}#second`)).toMatchObject({ name: 'second', source: `${path}#second` });
  await expect(loadFile(path)).rejects.toThrow(`Name the one you mean: ${path}#first`);
  await expect(loadFile(`${path}#secnd`)).rejects.toThrow(
    `${path} has no export "secnd". Allowed: first, second. Did you mean ${path}#second?`,
  );
  await expect(loadFile(`${path}#x`)).rejects.toThrow(
    `${path}#x is not an agent, environment, game or world`,
  );
  const hashed = write('with#hash.mjs', `export const mine = ${environment('hashed')};`);
  expect(await loadFile(hashed)).toMatchObject({ name: 'hashed', source: hashed });
});

test('`turnwise train ./agent.ts` runs TypeScript on this version of Node', {
  timeout: 120_000,
}, async () => {
  const program = join(repository, 'dist/src/cli/main.js');
  if (!existsSync(program)) throw new Error(`${program} does not exist: run "npm run build" first`);
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(repository, join(folder, 'node_modules', 'turnwise'));
  write(
    'echo.ts',
    `import { type AgentEpisode, defineAgent } from 'turnwise';

const words: readonly string[] = ['red', 'green', 'blue'];

export const echo = defineAgent<string>({
  name: 'echo',
  tasks: () => words,
  async run({ task, baseURL, apiKey, model, signal }: AgentEpisode<string>) {
    const response = await fetch(\`\${baseURL}/chat/completions\`, {
      method: 'POST',
      headers: { authorization: \`Bearer \${apiKey}\` },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: task }] }),
      signal,
    });
    const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
    return { reward: choices[0]!.message.content === task ? 1 : 0 };
  },
  demonstrate: ({ task, rng }) => ({ content: rng.chance(0.5) ? task : rng.pick(words) }),
});
`,
  );
  const settings = {
    threads: 1,
    steps: 6,
    'model.width': 32,
    'model.layers': 1,
    'model.heads': 2,
    'model.hidden': 64,
    'clone.demonstrations': 60,
    'clone.steps': 40,
    'rollout.tasks': 6,
    'optimizer.learningRate': 0.01,
    'evaluation.finalTasks': 60,
    'evaluation.every': 0,
  };
  const flags = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  const run = (...line: string[]): Promise<{ stdout: string }> =>
    promisify(execFile)(process.execPath, [program, ...line], { cwd: folder });
  const { stdout } = await run('train', './echo.ts', '--json', ...flags);
  const { summary } = JSON.parse(stdout.trim().split('\n').at(-1)!) as {
    summary: Record<'before' | 'after', { sampled: { success: number; stops: object } }>;
  };
  expect(summary.after.sampled.success).toBeGreaterThan(summary.before.sampled.success);
  expect(summary.after.sampled.stops).toEqual({ done: 60 });
  // The same command measures it again, found by its file: the same chance gives the same figure.
  const measured = await run('eval', './echo.ts', '--json', '--tasks', '60');
  const again = JSON.parse(measured.stdout.trim().split('\n').at(-1)!) as {
    run: string;
    sampled: { success: number };
  };
  expect(again).toMatchObject({ run: 'echo-rloo-1', sampled: { success: summary.after.sampled.success } });
});
