/** One contract, three languages; and code that does what no code should. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createRuntime } from './create-runtime.ts';
import { keptFolder, OWNER_MARK } from './node/keeper.ts';
import { MARK } from './node/processes.ts';
import type { Language, Runtime, RuntimeLimits } from './runtime.ts';

const commands: Readonly<Record<Language, string>> = { javascript: 'node', python: 'python3', shell: 'bash' };
const has = (language: Language): boolean => spawnSync(commands[language], ['--version']).status === 0;
const present = (['javascript', 'python', 'shell'] as const).filter((language) => {
  if (has(language)) return true;
  console.warn(
    `Runtime tests of ${language} are skipped: there is no ${commands[language]} on this machine.`,
  );
  return false;
});
const onLinux = existsSync('/proc/self/environ');

const open: Runtime[] = [];
async function runtime(language: Language, limits: Partial<RuntimeLimits> = {}): Promise<Runtime> {
  const made = await createRuntime(language, { timeMs: 5000, ...limits });
  open.push(made);
  return made;
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
  for (const marked of escaped()) expect.fail(`process ${marked} was left behind`);
});

// Other tests run beside this one, and their runtimes are none of its business.
const { owner, folder: unused } = await keptFolder();
rmSync(unused, { recursive: true });

/** Living processes that this process's runtimes started, or those with something else in their environment. */
function escaped(having = `${OWNER_MARK}=${owner}`): number[] {
  if (!onLinux) return [];
  return readdirSync('/proc').flatMap((name) => {
    try {
      const environment = readFileSync(`/proc/${name}/environ`, 'latin1');
      const state = readFileSync(`/proc/${name}/stat`, 'latin1').replace(/^.*\) /s, '')[0];
      const isOurs = environment.includes(`${MARK}=`) && environment.includes(having);
      return isOurs && state !== 'Z' ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

/** The same programs in each language. */
const words: Readonly<
  Record<Language, Readonly<Record<'set' | 'add' | 'get' | 'loop' | 'flood' | 'wrong' | 'hoard', string>>>
> = {
  javascript: {
    set: 'var n = 1',
    add: 'n = n + 1; undefined',
    get: 'n',
    loop: 'n = 99; for (;;);',
    flood: 'for (;;) console.log("x".repeat(1000))',
    wrong: 'nothing.here',
    hoard: 'n = 99; var hoard = []; for (let i = 0; ; i++) hoard.push([i, i, i])',
  },
  python: {
    set: 'n = 1',
    add: 'n = n + 1',
    get: 'n',
    loop: 'n = 99\nwhile True: pass',
    flood: 'while True: print("x" * 1000)',
    wrong: 'nothing.here',
    hoard: 'n = 99\nhoard = []\nwhile True: hoard.append("x" * 10_000_000)',
  },
  shell: {
    set: 'n=1',
    add: 'n=$((n + 1))',
    get: 'echo $n',
    loop: 'n=99; while true; do :; done',
    flood: 'yes xxxxxxxxxxxxxxxx',
    wrong: 'nothing_here_at_all',
    hoard: 'n=99; hoard=x; while true; do hoard=$hoard$hoard; done',
  },
};

describe.each(present)('%s', (language) => {
  const { set, add, get, loop, flood, wrong, hoard } = words[language];

  test('variables persist, calls follow one another, mistakes are told', async () => {
    const one = await runtime(language);
    const calls = [set, add, add, get].map((code) => one.run(code));
    expect((await Promise.all(calls)).map(({ output, error }) => [output, error])).toEqual([
      ['', undefined],
      ['', undefined],
      ['', undefined],
      ['3', undefined],
    ]);
    const told = await one.run(wrong);
    expect(told.error).toMatch(/^(ReferenceError|NameError|ExitStatus): /);
    expect((await one.run(get)).output).toBe('3');
  });

  test('JSON goes in and comes out', async () => {
    const one = await runtime(language);
    const values = [
      'plain',
      'it\'s "quoted"\n$HOME `x` \\n',
      ...(language === 'shell' ? [] : [0, -1.5, true, null, [1, [2]], { a: { __proto__x: [] }, 'b c': 'é' }]),
    ];
    for (const value of values) {
      await one.inject('given', value);
      expect(await one.take('given')).toEqual(value);
    }
    expect(await one.take('missing')).toBeUndefined();
    await one.inject('list', [1, 2]);
    expect(await one.take('list')).toEqual(language === 'shell' ? '[1,2]' : [1, 2]);
    await expect(one.inject('a b', 1)).rejects.toMatchObject({ code: 'runtime-name' });
    await expect(one.take('$(reboot)')).rejects.toMatchObject({ code: 'runtime-name' });
  });

  test('a fork is independent, in variables and in files', async () => {
    const one = await runtime(language);
    await one.run(set);
    await one.files.write('deep/a.txt', 'one');
    const copy = await one.fork();
    open.push(copy);
    await copy.run(add);
    await copy.files.write('deep/a.txt', 'two');
    await copy.files.write('b.txt', 'three');
    expect((await one.run(get)).output).toBe('1');
    expect((await copy.run(get)).output).toBe('2');
    expect(await one.files.list()).toEqual(['deep/a.txt']);
    expect(await one.files.read('deep/a.txt')).toBe('one');
    await one.close();
    await copy.run(add);
    expect((await copy.run(get)).output).toBe('3');
    expect(await copy.files.read('b.txt')).toBe('three');
  });

  test('files stay inside', async () => {
    const one = await runtime(language);
    await expect(one.files.read('missing.txt')).rejects.toMatchObject({ code: 'runtime-file' });
    if (language === 'javascript') return;
    for (const path of ['../control', '/etc/passwd', 'a/../../b', '']) {
      await expect(one.files.read(path)).rejects.toMatchObject({ code: 'runtime-file' });
      await expect(one.files.write(path, 'x')).rejects.toMatchObject({ code: 'runtime-file' });
    }
    const link = language === 'python' ? 'import os\nos.symlink("/etc", "out")' : 'ln -s /etc out';
    await one.run(link);
    await expect(one.files.read('out/passwd')).rejects.toMatchObject({ code: 'runtime-file' });
    await expect(one.files.write('out/turnwise-test', 'x')).rejects.toMatchObject({ code: 'runtime-file' });
    const pipe = language === 'python' ? 'os.mkfifo("pipe")' : 'mkfifo pipe';
    await one.run(pipe);
    await expect(one.files.read('pipe')).rejects.toMatchObject({ code: 'runtime-file' });
  });

  test('a call without end is undone at its limit', async () => {
    const one = await runtime(language);
    await one.run(set);
    const startedAt = performance.now();
    const { error } = await one.run(loop, { timeMs: 400 });
    expect(error).toMatch(/^TimeLimit: the call took longer than 400 ms/);
    expect(performance.now() - startedAt).toBeLessThan(5000);
    expect((await one.run(get)).output).toBe('1');
  });

  test('output without end is cut', async () => {
    const one = await runtime(language, { outputLength: 100 });
    const { output, error } = await one.run(flood, { timeMs: 1500 });
    expect(output.length).toBeLessThan(200);
    expect(error).toBeDefined();
    expect((await one.run(`${set}\n${get}`)).output).toBe('1');
  });

  test('memory without end is an error of the code, and variables are as before', {
    timeout: 30_000,
  }, async () => {
    const one = await runtime(language, { memoryBytes: 128 * 2 ** 20, timeMs: 10_000 });
    await one.run(set);
    const { error } = await one.run(hoard);
    expect(error).toMatch(/memory|Memory|Limit|Crash|ExitStatus/);
    expect((await one.run(`${set}\n${get}`)).output).toBe('1');
  });

  test('an aborted call rejects with the reason, and was never made', async () => {
    const one = await runtime(language);
    await one.run(set);
    const enough = new AbortController();
    const call = one.run(loop, { signal: enough.signal });
    setTimeout(() => enough.abort(new Error('enough')), 150);
    await expect(call).rejects.toThrow('enough');
    expect((await one.run(get)).output).toBe('1');
    await expect(one.run(get, { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before');
  });

  test('what was closed is refused', async () => {
    const one = await runtime(language);
    await one.close();
    await expect(one.run(get)).rejects.toMatchObject({ code: 'sandbox-closed' });
  });
});

const python = test.skipIf(!present.includes('python'));
const shell = test.skipIf(!present.includes('shell'));

python('python: values, functions, imports and SystemExit', async () => {
  const one = await runtime('python');
  await one.run('import math\ndef twice(x):\n    return 2 * x');
  expect(await one.run('twice(math.floor(2.5))')).toEqual({ output: '4', value: 4 });
  expect(await one.run('{1: {2}}')).toEqual({ output: '{1: {2}}' });
  expect((await one.run('exit(3)')).error).toContain('SystemExit');
  expect((await one.run('x = (')).error).toContain('SyntaxError');
  expect(
    (await one.run('import subprocess\nsubprocess.run(["echo", "hi"], check=True).returncode')).output,
  ).toBe('hi\n0');
});

python('python: ending the interpreter, or whoever waits for it, voids no episode', async () => {
  const one = await runtime('python');
  await one.run('n = 1');
  expect((await one.run('import os\nn = 2\nos._exit(3)')).error).toMatch(/^Crash: .* undone$/);
  expect((await one.run('n')).output).toBe('1');
  expect((await one.run('import os\nos.kill(os.getppid(), 9)\nn')).output).toBe('1');
  expect((await one.run('n')).output).toBe('1');
  expect((await one.run('os.kill(os.getppid(), 9)\nos._exit(1)')).error).toMatch(/^Crash: .* lost$/);
  expect((await one.run('1 + 1')).output).toBe('2');
  expect((await one.run('import os\nos.fork()\n1 + 1')).error).toBeUndefined();
});

test.skipIf(!onLinux || !present.includes('shell'))(
  'a fork bomb is bounded',
  { timeout: 30_000 },
  async () => {
    const one = await runtime('shell', { timeMs: 10_000 });
    // It slows down as it grows, so that a broken bound harms nobody.
    const { error } = await one.run('bomb() { sleep 0.02; bomb & bomb & wait; }; bomb');
    expect(error).toMatch(/^ProcessLimit: /);
    expect((await one.run('echo fine')).output).toBe('fine');
  },
);

test.skipIf(!onLinux || !present.includes('python'))(
  'a fork bomb in Python is bounded',
  { timeout: 30_000 },
  async () => {
    const one = await runtime('python', { timeMs: 10_000 });
    const { error } = await one.run('import os, time\nwhile True:\n    os.fork()\n    time.sleep(0.05)');
    expect(error).toMatch(/^ProcessLimit: /);
    expect((await one.run('1')).output).toBe('1');
  },
);

shell(
  'shell: background processes end with their call, the folder and functions persist, secrets are not there',
  async () => {
    process.env.TURNWISE_TEST_SECRET = 'hush';
    const one = await runtime('shell');
    expect((await one.run('sleep 1000 & setsid sleep 1000 & echo $TURNWISE_TEST_SECRET')).output).toBe('');
    delete process.env.TURNWISE_TEST_SECRET;
    if (onLinux) expect(escaped()).toEqual([]);
    await one.run('mkdir sub; cd sub; f() { echo "in $(basename "$PWD")"; }');
    expect((await one.run('f')).output).toBe('in sub');
    expect(await one.run('exit 3')).toMatchObject({ value: 3 });
    const copy = await one.fork();
    open.push(copy);
    await copy.run('echo x >here');
    expect(await one.files.list()).toEqual([]);
    expect(await copy.files.list()).toEqual(['sub/here']);
  },
);

describe.each(present.filter((language) => language !== 'javascript'))(
  '%s has a place of its own',
  (language) => {
    const print = {
      python: 'import os, json\nprint(json.dumps([os.getcwd(), dict(os.environ)]))',
      shell: 'printf \'%s\\n\' "$PWD"; env -0',
    }[language as 'python' | 'shell'];

    async function told(
      one: Runtime,
    ): Promise<{ folder: string; environment: Readonly<Record<string, string>> }> {
      const { output } = await one.run(print, { outputLength: 100_000 });
      if (language === 'python') {
        const [folder, environment] = JSON.parse(output) as [string, Record<string, string>];
        return { folder, environment };
      }
      const end = output.indexOf('\n');
      const pairs = output
        .slice(end + 1)
        .split('\0')
        .filter((pair) => pair.includes('='))
        .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]);
      return {
        folder: output.slice(0, end),
        environment: Object.fromEntries(pairs) as Record<string, string>,
      };
    }

    test('HOME, TMPDIR and the working folder are it, and nothing else of the environment is inherited', async () => {
      const secrets = {
        TURNWISE_TEST_SECRET: 'hush',
        AWS_SESSION_TOKEN: 'hush',
        PYTHONSTARTUP: '/hush',
        BASH_ENV: '/hush',
      };
      const before = { ...process.env };
      Object.assign(process.env, secrets);
      try {
        const one = await runtime(language);
        const copy = await one.fork();
        open.push(copy);
        const places = [await told(one), await told(copy)];
        for (const { folder, environment } of places) {
          expect(environment).toMatchObject({ HOME: folder, TMPDIR: folder });
          const { PATH, HOME, TMPDIR, LANG, ...rest } = environment;
          // Version managers put folders before it.
          expect(PATH!.endsWith(before.PATH!)).toBe(true);
          // Marks of ours, and what the interpreters themselves set.
          expect(
            Object.keys(rest).filter(
              (name) => !/^(TURNWISE_RUNTIMES?|PWD|OLDPWD|SHLVL|_|LC_CTYPE|_?PYENV_.*)$/.test(name),
            ),
          ).toEqual([]);
          expect(JSON.stringify(environment)).not.toContain('hush');
        }
        expect(places[0]!.folder).not.toBe(places[1]!.folder);
        await one.close();
        expect(existsSync(places[0]!.folder)).toBe(false);
        expect(existsSync(places[1]!.folder)).toBe(true);
      } finally {
        for (const name of Object.keys(secrets)) delete process.env[name];
        Object.assign(process.env, before);
      }
    });

    test('files that the user can read are readable: it is no wall', async () => {
      const one = await runtime(language);
      const path = new URL(import.meta.url).pathname;
      const read = {
        python: `len(open(${JSON.stringify(path)}).read()) > 0`,
        shell: `[ -s '${path}' ] && echo True`,
      };
      expect((await one.run(read[language as 'python' | 'shell'])).output).toBe('True');
    });
  },
);

test.skipIf(!onLinux || present.length < 3)(
  'nothing is left when the process is killed',
  { timeout: 30_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'turnwise-killed-'));
    const module = new URL('../../../dist/src/exports/env.js', import.meta.url).pathname;
    const program = `
    const { createRuntime } = await import(${JSON.stringify(module)});
    const python = await createRuntime('python'), shell = await createRuntime('shell');
    void python.run('import time; time.sleep(1000)', { timeMs: 1e6 });
    void shell.run('sleep 1000', { timeMs: 1e6 });
    setTimeout(() => process.stdout.write('ready'), 1000);`;
    const child: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', program], {
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => child.stdout!.once('data', resolve));
    expect(escaped(folder).length).toBeGreaterThan(2);
    child.kill('SIGKILL');
    await expect
      .poll(() => [escaped(folder).length, readdirSync(folder).length], { timeout: 15_000 })
      .toEqual([0, 0]);
    rmSync(folder, { recursive: true });
  },
);
