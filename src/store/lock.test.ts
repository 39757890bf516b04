/** Real processes fight for one lock: processes are what it must hold against. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { transpileModule } from 'typescript';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { realDisk } from './disk.ts';
import { takeLock } from './lock.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-lock-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const CONTENDERS = 6;
const ROUNDS = 200;

/** Takes the lock of a round when told to, says whether it has it, and keeps it until the next round. */
const contender = `
import { takeLock } from './store/lock.js';
import { realDisk } from './store/disk.js';
import { createInterface } from 'node:readline';
for await (const path of createInterface({ input: process.stdin })) {
  try {
    takeLock(path, 'test', realDisk);
    console.log('mine');
  } catch (error) {
    console.log(error.code === 'run-busy' ? 'busy' : String(error));
  }
}`;

beforeAll(() => {
  for (const name of ['store/lock', 'store/disk', 'core/errors', 'core/write-error']) {
    const source = readFileSync(resolve(import.meta.dirname, '..', `${name}.ts`), 'utf8');
    const { outputText } = transpileModule(source, { compilerOptions: { target: 99, module: 99 } });
    const target = join(folder, `${name}.js`);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, outputText.replaceAll(".ts'", ".js'"));
  }
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'contender.js'), contender);
});

/** The id of a process that is gone. */
async function deadProcess(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  return child.pid!;
}

class Contender {
  readonly child: ChildProcess;
  readonly #answers: AsyncIterator<string>;

  constructor() {
    this.child = spawn(process.execPath, [join(folder, 'contender.js')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#answers = createInterface({ input: this.child.stdout! })[Symbol.asyncIterator]();
  }

  async take(path: string): Promise<string> {
    this.child.stdin!.write(`${path}\n`);
    return String((await this.#answers.next()).value);
  }
}

it(`is never held twice: ${CONTENDERS} processes, ${ROUNDS} stale locks, also with a right left by a killed process`, {
  timeout: 120_000,
}, async () => {
  const pid = await deadProcess();
  const contenders = Array.from({ length: CONTENDERS }, () => new Contender());
  const stale = (token: string): string => JSON.stringify({ pid, host: hostname(), token, started: null });
  const counts = { doubles: 0, none: 0, other: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const run = join(folder, `run-${round}`);
    mkdirSync(run);
    const path = join(run, 'run.lock');
    // One round in four has no lock, one a lock of before tokens, one a claimant that was killed half-way.
    if (round % 4 === 1) writeFileSync(path, JSON.stringify({ pid, host: hostname() }));
    if (round % 4 >= 2) writeFileSync(path, stale('first'));
    if (round % 4 === 3) writeFileSync(`${path}.first`, stale('second'));
    const answers = await Promise.all(contenders.map((one) => one.take(path)));
    const owners = answers.filter((answer) => answer === 'mine').length;
    if (owners > 1) counts.doubles++;
    if (owners === 0) counts.none++;
    counts.other += answers.filter((answer) => answer !== 'mine' && answer !== 'busy').length;
  }
  for (const { child } of contenders) child.kill();
  expect(counts).toEqual({ doubles: 0, none: 0, other: 0 });
});

it('takes over from a killed process, clears away what it left, and leaves nothing itself', async () => {
  const path = join(folder, 'run.lock');
  const other = new Contender();
  expect(await other.take(path)).toBe('mine');
  expect(() => takeLock(path, 'test', realDisk)).toThrow(/process \d+/);
  other.child.kill('SIGKILL');
  await once(other.child, 'exit');
  writeFileSync(`${path}.left`, JSON.stringify({ pid: other.child.pid, host: hostname(), token: 'left' }));
  const unlock = takeLock(path, 'test', realDisk);
  expect(readdirSync(folder).filter((name) => name.startsWith('run.lock'))).toEqual(['run.lock']);
  unlock();
  expect(existsSync(path)).toBe(false);
});

it('knows a later process of the same id', { skip: process.platform !== 'linux' }, () => {
  const path = join(folder, 'same-id.lock');
  writeFileSync(
    path,
    JSON.stringify({ pid: process.ppid, host: hostname(), token: 'past', started: 'long ago' }),
  );
  takeLock(path, 'test', realDisk)();
  expect(existsSync(path)).toBe(false);
});
