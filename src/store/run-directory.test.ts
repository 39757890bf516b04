import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Disk } from './disk.ts';
import { faultyDisk } from './faulty-disk.test-helper.ts';
import { type CreateRun, RunDirectory } from './run-directory.ts';
import { runNames } from './runs.ts';

let root: string;
const schema = z.strictObject({ steps: z.int() });

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'turnwise-store-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function create(extra: Partial<CreateRun<{ steps: number }>> = {}): RunDirectory {
  const request = {
    root,
    version: '1.0.0',
    world: { name: 'maze', source: 'maze' },
    recipe: 'rloo',
    config: { steps: 3 },
  };
  return RunDirectory.create({ ...request, ...extra });
}

function open(name: string, disk?: Disk): RunDirectory {
  return RunDirectory.openForWriting({ root, name, version: '1.0.0', ...(disk && { disk }) });
}

/** The message with the temporary folder replaced, so that it can be compared. */
function message(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    const { code, message: text } = error as { code: string; message: string };
    return `${code}: ${text.replaceAll(root, 'runs')}`;
  }
  return 'no error';
}

async function messageOf(promise: Promise<unknown>): Promise<string> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  return message(() => {
    if (outcome) throw outcome.error;
  });
}

const warning = (text: string) => ({ type: 'warning', code: 'test', message: text }) as const;

async function saveStep(run: RunDirectory, step: number, keep = 2): Promise<void> {
  await run.saveCheckpoint({
    step,
    identity: 'tiny',
    keep,
    state: { step },
    write: async (folder) => writeFileSync(join(folder, 'model.safetensors'), `weights ${step}`),
  });
}

describe('names', () => {
  it('takes the next free number, also after a run in the middle was deleted', async () => {
    await create().close();
    await create().close();
    rmSync(join(root, 'maze-rloo-1'), { recursive: true });
    expect(create().name).toBe('maze-rloo-3');
    expect(runNames(root)).toEqual(['maze-rloo-2', 'maze-rloo-3']);
  });

  it('refuses an existing name and says how to continue', async () => {
    await create({ name: 'first' }).close();
    expect(message(() => create({ name: 'first' }))).toMatchInlineSnapshot(
      `"run-exists: A run named "first" already exists. Seen: runs/first. Continue it with "turnwise resume first --runs runs", choose another --name, or delete the folder."`,
    );
  });

  it('refuses a name that is a path', () => {
    expect(message(() => create({ name: '../escape' }))).toMatchInlineSnapshot(
      `"run-name: The run name cannot be a folder name. Seen: "../escape". Allowed: letters, digits, ".", "_", "+" and "-", starting with a letter or digit. Choose another name."`,
    );
  });

  it('names the nearest run when one is unknown', async () => {
    await create().close();
    expect(message(() => open('maze-rlo-1'))).toMatchInlineSnapshot(
      `"run-unknown: There is no run named "maze-rlo-1" in runs. Allowed: maze-rloo-1. Did you mean "maze-rloo-1"?"`,
    );
  });
});

describe('configuration', () => {
  it('reads back what was written', () => {
    const run = create();
    expect(run.readConfig(schema)).toEqual({
      turnwise: '1.0.0',
      world: { name: 'maze', source: 'maze' },
      recipe: 'rloo',
      config: { steps: 3 },
    });
  });

  it('says so when another version wrote keys that this one does not have', async () => {
    await create({ name: 'old' }).close();
    const run = RunDirectory.openForReading({ root, name: 'old', version: '2.0.0' });
    const renamed = z.strictObject({ updates: z.int() });
    expect(message(() => run.readConfig(renamed))).toMatchInlineSnapshot(
      `"config-version: The configuration of this run was written by another version. Seen: Turnwise 1.0.0: updates: Invalid input: expected number, received undefined; Unrecognized key: "steps" (runs/old/config.json). Allowed: format 2 of Turnwise 2.0.0. Continue the run with the version that started it, or start a new run with this one."`,
    );
  });

  it('says so when the file has a newer format', () => {
    const run = create();
    writeFileSync(
      join(run.path, 'config.json'),
      JSON.stringify({ format: 'turnwise-run', formatVersion: 9, turnwise: '4.0.0' }),
    );
    expect(message(() => run.readConfig(schema))).toMatchInlineSnapshot(
      `"config-version: The configuration of this run was written by another version. Seen: format 9 of Turnwise 4.0.0 (runs/maze-rloo-1/config.json). Allowed: format 2 of Turnwise 1.0.0. Continue the run with the version that started it, or start a new run with this one."`,
    );
  });

  it('refuses a run of an earlier format with one sentence', async () => {
    const run = create();
    await run.close();
    writeFileSync(
      join(run.path, 'config.json'),
      JSON.stringify({ format: 'turnwise-run', formatVersion: 1, turnwise: '0.1.0' }),
    );
    expect(message(() => open(run.name))).toMatchInlineSnapshot(
      `"config-version: Turnwise 0.1.0 wrote this run in format 1, which only that version reads: show or continue the run with it, or start a new one."`,
    );
  });

  it('calls a damaged file damaged', () => {
    const run = create();
    writeFileSync(join(run.path, 'config.json'), '{"format": "turn');
    expect(message(() => run.readConfig(schema))).toMatchInlineSnapshot(
      `"config-corrupt: The configuration of this run cannot be read. Seen: runs/maze-rloo-1/config.json: it is not JSON. Restore the file, or start a new run."`,
    );
  });
});

describe('events', () => {
  it('appends, stamps the time and reads back', () => {
    const run = create();
    run.events.append(warning('one'));
    run.events.append(warning('two'));
    const events = run.events.read();
    expect(events.map((event) => event.type === 'warning' && event.message)).toEqual(['one', 'two']);
    expect(events[0]!.time).toMatch(/^\d{4}-\d\d-\d\dT/);
  });

  it('leaves out an unfinished last line when reading, and cuts it when writing goes on', async () => {
    const run = create();
    run.events.append(warning('whole'));
    appendFileSync(run.events.path, '{"type":"warning","mess');
    expect(run.events.read()).toHaveLength(1);
    await run.close();
    const again = open(run.name);
    again.events.append(warning('next'));
    expect(again.events.read()).toHaveLength(2);
    expect(again.events.bytes).toBe(readFileSync(run.events.path).length);
  });

  it('names the line that is not JSON', () => {
    const run = create();
    appendFileSync(run.events.path, '{"type":"warning"}\nbroken\n');
    expect(message(() => run.events.read())).toMatchInlineSnapshot(
      `"events-corrupt: The event log of this run has a line that is not JSON. Seen: runs/maze-rloo-1/events.jsonl, line 2: broken. Restore the file, or delete that line if the rest is wanted for reading only."`,
    );
  });

  it('ends where it ended before when the disk is full', () => {
    let fault: keyof Disk | undefined;
    const run = create({ disk: faultyDisk(() => fault) });
    run.events.append(warning('kept'));
    fault = 'append';
    expect(message(() => run.events.append(warning('lost')))).toMatchInlineSnapshot(
      `"disk-full: The disk is full. Seen: ENOSPC while writing runs/maze-rloo-1/events.jsonl. All events before this one are kept, and so is the last checkpoint. Free some space, then continue with: turnwise resume maze-rloo-1 --runs runs."`,
    );
    fault = undefined;
    run.events.append(warning('later'));
    expect(run.events.read()).toHaveLength(2);
  });
});

describe('checkpoints', () => {
  it('keeps the newest, and reads them back verified', async () => {
    const run = create();
    for (const step of [8, 9, 10, 11]) await saveStep(run, step);
    expect(run.checkpoints.steps()).toEqual([10, 11]);
    const checkpoint = await run.checkpoints.open({ identity: 'tiny' });
    expect(checkpoint.state).toEqual({ step: 11 });
    expect(checkpoint.manifest.files.map((file) => file.name)).toEqual(['model.safetensors', 'state.json']);
  });

  it('leaves the earlier checkpoint whole when the process dies between writing and renaming', async () => {
    let fault: keyof Disk | undefined;
    const run = create({ disk: faultyDisk(() => fault, 'EIO') });
    await saveStep(run, 1);
    fault = 'rename';
    await messageOf(saveStep(run, 2));
    await run.close();
    const folder = run.checkpoints.folder;
    expect(readdirSync(folder)).toEqual(['.unfinished-2', '1']);
    const again = open(run.name);
    expect(readdirSync(folder)).toEqual(['1']);
    expect((await again.checkpoints.open()).step).toBe(1);
  });

  it('can be saved again at the same step', async () => {
    const run = create();
    await saveStep(run, 1);
    await saveStep(run, 1);
    expect((await run.checkpoints.open()).step).toBe(1);
  });

  it('reports a disk that fills up while the engine writes', async () => {
    const run = create();
    await saveStep(run, 10);
    const full = run.saveCheckpoint({
      step: 20,
      identity: 'tiny',
      keep: 2,
      state: {},
      write: async () => {
        throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
      },
    });
    expect(await messageOf(full)).toMatchInlineSnapshot(
      `"disk-full: The disk is full. Seen: ENOSPC while writing runs/maze-rloo-1/checkpoints/20. The checkpoint of step 10 is kept. Free some space, then continue with: turnwise resume maze-rloo-1 --runs runs."`,
    );
    expect(run.checkpoints.steps()).toEqual([10]);
  });

  it.each(['makeFolder', 'replaceFile', 'flush', 'rename'] as const)(
    'survives a full disk in %s',
    async (name) => {
      let fault: keyof Disk | undefined;
      const run = create({ disk: faultyDisk(() => fault) });
      await saveStep(run, 1);
      fault = name;
      expect(await messageOf(saveStep(run, 2))).toContain('disk-full: The disk is full');
      fault = undefined;
      expect((await run.checkpoints.open()).step).toBe(1);
      await saveStep(run, 2);
      expect((await run.checkpoints.open()).step).toBe(2);
    },
  );

  it('finds damage of every kind and names the way back', async () => {
    const run = create();
    await saveStep(run, 1);
    await saveStep(run, 2);
    const file = join(run.checkpoints.folder, '2', 'model.safetensors');
    writeFileSync(file, 'weights 3');
    expect(await messageOf(run.checkpoints.open())).toMatchInlineSnapshot(
      `"checkpoint-corrupt: The checkpoint of step 2 of run "maze-rloo-1" is damaged. Seen: the contents of model.safetensors do not match their checksum. Delete runs/maze-rloo-1/checkpoints/2 to continue from step 1."`,
    );
    writeFileSync(file, 'short');
    expect(await messageOf(run.checkpoints.open())).toContain('has 5 bytes instead of 9');
    rmSync(file);
    expect(await messageOf(run.checkpoints.open())).toContain('model.safetensors is missing');
    writeFileSync(join(run.checkpoints.folder, '2', 'manifest.json'), '{');
    expect(await messageOf(run.checkpoints.open())).toContain('manifest.json is not JSON');
    writeFileSync(join(run.checkpoints.folder, '2', 'manifest.json'), 'null');
    expect(await messageOf(run.checkpoints.open())).toContain(
      'checkpoint-corrupt: The checkpoint of step 2 of run "maze-rloo-1" is damaged. Seen: manifest.json is null, not an object.',
    );
  });

  it('refuses what was not written for it', async () => {
    const run = create();
    await saveStep(run, 1);
    expect(await messageOf(run.checkpoints.open({ identity: 'large' }))).toMatchInlineSnapshot(
      `"checkpoint-foreign: This checkpoint does not belong here. Seen: weights of tiny in runs/maze-rloo-1/checkpoints/1. Allowed: weights of large. Use the version and settings that wrote it, or start a new run."`,
    );
    mkdirSync(join(run.checkpoints.folder, '5'));
    expect(await messageOf(run.checkpoints.open({ step: 5 }))).toMatchInlineSnapshot(
      `"checkpoint-foreign: This checkpoint does not belong here. Seen: no manifest.json in runs/maze-rloo-1/checkpoints/5. Allowed: a checkpoint that Turnwise wrote. Use the version and settings that wrote it, or start a new run."`,
    );
    expect(await messageOf(run.checkpoints.open({ step: 4 }))).toMatchInlineSnapshot(
      `"checkpoint-missing: There is no checkpoint of step 4. Allowed: steps 1, 5. Name one of these steps."`,
    );
  });

  it('rewinds to what the checkpoint saw', async () => {
    const run = create();
    run.events.append(warning('before'));
    await saveStep(run, 1);
    run.events.append(warning('after'));
    const bytes = run.events.bytes;
    expect(run.rewind(await run.checkpoints.open())).toEqual([]);
    run.events.append({ type: 'resume', step: 1 });
    expect(run.events.read()).toMatchObject([
      { message: 'before' },
      { type: 'resume', generation: 2, from: 1 },
    ]);
    expect(run.events.bytes).toBeGreaterThan(bytes);
  });
});

describe('lock', () => {
  it('lets one writer in', async () => {
    const run = create();
    const pid = String(process.pid);
    expect(message(() => open(run.name)).replace(pid, 'PID')).toMatchInlineSnapshot(
      `"run-busy: Run "maze-rloo-1" is being written by another process. Seen: process PID. Wait until it ends or stop it; if it no longer exists, delete runs/maze-rloo-1/run.lock."`,
    );
    await run.close();
    await open(run.name).close();
    expect(existsSync(join(run.path, 'run.lock'))).toBe(false);
  });

  it('takes over from a process that is gone, and from an unreadable lock', async () => {
    const run = create();
    await run.close();
    const lock = join(run.path, 'run.lock');
    const host = await readHost(run);
    writeFileSync(lock, JSON.stringify({ pid: 2 ** 22 + 1, host }));
    await open(run.name).close();
    writeFileSync(lock, '');
    expect(message(() => open(run.name))).toContain('a lock that changes hands');
    utimesSync(lock, 1e9, 1e9);
    await open(run.name).close();
    writeFileSync(lock, JSON.stringify({ pid: process.pid, host }));
    await open(run.name).close();
  });

  it('does not take over from another machine', async () => {
    const run = create();
    await run.close();
    writeFileSync(join(run.path, 'run.lock'), JSON.stringify({ pid: 7, host: 'elsewhere' }));
    expect(message(() => open(run.name))).toMatchInlineSnapshot(
      `"run-busy: Run "maze-rloo-1" is being written by another process. Seen: process 7 on elsewhere. Wait until it ends or stop it; if it no longer exists, delete runs/maze-rloo-1/run.lock."`,
    );
  });

  it('lets readers in at any time', () => {
    const run = create();
    expect(RunDirectory.openForReading({ root, name: run.name, version: '1.0.0' }).name).toBe(run.name);
  });
});

async function readHost(run: RunDirectory): Promise<string> {
  const again = open(run.name);
  const { host } = JSON.parse(readFileSync(join(run.path, 'run.lock'), 'utf8')) as { host: string };
  await again.close();
  return host;
}

it('starts nothing on a full disk', () => {
  const disk = faultyDisk(() => 'replaceFile');
  expect(message(() => create({ disk }))).toMatchInlineSnapshot(
    `"disk-full: The disk is full. Seen: ENOSPC while writing runs. Nothing was started. Free some space, then run the same command again."`,
  );
  expect(readdirSync(root)).toEqual([]);
});

it('says that a folder is read-only to whoever wants to go on', async () => {
  await create().close();
  expect(
    message(() =>
      open(
        'maze-rloo-1',
        faultyDisk(() => 'createFile', 'EROFS'),
      ),
    ),
  ).toBe(
    'disk-failed: The disk refused a write. Seen: EROFS while writing runs/maze-rloo-1. Nothing was changed. Once it can be written, run the same command again.',
  );
});
