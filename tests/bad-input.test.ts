/** What a person sees who types something wrong, finds a damaged run, or presses Ctrl-C: whole messages and exit codes. */

import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { environmentNames } from '../src/run/load/environments.ts';

const command = new URL('../dist/src/cli/main.js', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'turnwise-bad-input-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** As small as a run can be, and long enough to be interrupted. */
const TINY = Object.entries({
  steps: 40,
  threads: 1,
  'model.width': 16,
  'model.layers': 1,
  'model.heads': 2,
  'model.hidden': 32,
  'clone.demonstrations': 40,
  'clone.steps': 3,
  'clone.batch': 8,
  'rollout.tasks': 4,
  'rollout.group': 4,
  'evaluation.every': 0,
  'evaluation.finalTasks': 10,
}).flatMap(([key, value]) => ['--set', `${key}=${value}`]);

interface Ended {
  /** The exit code, or the name of the signal that ended it. */
  readonly code: number | NodeJS.Signals;
  readonly output: string;
  /** On one line, with temporary names replaced. */
  readonly errors: string;
}

/** @param shell what a shell does first, such as setting a limit */
function start(words: readonly string[], shell = ''): { child: ChildProcess; ended: Promise<Ended> } {
  const whole = [process.execPath, command, ...words, '--runs', folder];
  const child = spawn('bash', ['-c', `${shell}\nexec "$@"`, 'bash', ...whole], {
    env: { ...process.env, NO_COLOR: '1' },
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const ended = new Promise<Ended>((resolve) =>
    child.on('close', (code, signal) =>
      resolve({ code: code ?? signal!, output, errors: normalise(errors) }),
    ),
  );
  return { child, ended };
}

/** A shell sees 130 either way: the signal ends what computes on in one call of the runtime. */
const INTERRUPTED: readonly Ended['code'][] = [130, 'SIGINT'];

function normalise(text: string): string {
  return text
    .trim()
    .replace(/\s*\n/g, ' ')
    .replaceAll(folder, 'RUNS')
    .replace(/process \d+/, 'process PID');
}

/** What a command that fails says, before its exit code. */
async function complaint(...words: readonly string[]): Promise<string> {
  const { code, errors } = await start(words).ended;
  return `${errors} → ${code}`;
}

/** Wait until the command has said `text`. */
function says(child: ChildProcess, text: string): Promise<void> {
  let heard = '';
  return new Promise((resolve, reject) => {
    child.stdout!.on('data', (chunk: Buffer) => {
      heard += chunk.toString();
      if (heard.includes(text)) resolve();
    });
    child.on('close', () => reject(new Error(`it ended without saying "${text}": ${heard}`)));
  });
}

/** A copy of the finished run that may be damaged. */
function copyOfTiny(name: string): string {
  const path = join(folder, name);
  cpSync(join(folder, 'tiny'), path, { recursive: true });
  return path;
}

function edit(path: string, change: (text: string) => string): void {
  writeFileSync(path, change(readFileSync(path, 'utf8')));
}

beforeAll(() => {
  if (!existsSync(command)) throw new Error(`${command} does not exist: run "npm run build" first`);
});

describe('a run', { timeout: 60_000 }, () => {
  test('is protected while it is written, stops after a step at Ctrl-C, and goes on', async () => {
    const { child, ended } = start(['train', 'frozen-lake', '--name', 'tiny', ...TINY]);
    await says(child, 'reinforcing, 40 steps');
    // Held still, so that what follows happens in the middle of the run on any machine.
    child.kill('SIGSTOP');
    expect(await complaint('resume', 'tiny')).toMatchInlineSnapshot(
      `"error: Run "tiny" is being written by another process. Seen: process PID. Wait until it ends or stop it; if it no longer exists, delete RUNS/tiny/run.lock. (run-busy) → 1"`,
    );
    child.kill('SIGINT');
    child.kill('SIGCONT');
    const stopped = await ended;
    expect(stopped.output).toContain(
      'Stopping after this step. Ctrl-C again stops at once, back at the latest checkpoint.',
    );
    expect(stopped.code).toBe(130);
    expect(stopped.errors.replace(/step \d+/, 'step STEP')).toMatchInlineSnapshot(
      `"Run "tiny" was stopped. Go on from step STEP with: turnwise resume tiny --runs RUNS."`,
    );

    const resumed = await start(['resume', 'tiny']).ended;
    expect(resumed).toMatchObject({ code: 0, errors: '' });
    expect(resumed.output).toContain('step 40 ');
    expect(await complaint('resume', 'tiny')).toMatchInlineSnapshot(
      `"error: The run "tiny" has finished. Seen: 40 steps. See it with "turnwise runs show tiny --runs RUNS". (run-finished) → 1"`,
    );
  });

  test('drops the step at the second interruption, and can still go on', async () => {
    const { child, ended } = start(['train', 'frozen-lake', '--name', 'dropped', ...TINY]);
    await says(child, 'reinforcing, 40 steps');
    child.kill('SIGSTOP');
    child.kill('SIGINT');
    child.kill('SIGTERM');
    child.kill('SIGCONT');
    // The first checkpoint is written just after the phase is told.
    expect((await ended).errors.replace(/step \d+|its beginning/, 'WHERE')).toMatchInlineSnapshot(
      `"Run "dropped" was stopped. Go on from WHERE with: turnwise resume dropped --runs RUNS."`,
    );
    expect(INTERRUPTED).toContain((await ended).code);
    expect(await start(['resume', 'dropped']).ended).toMatchObject({ code: 0, errors: '' });
  });

  test.each([
    ['while demonstrations are played', ['clone.demonstrations=100000'], 'waits for 100000 episodes', 0],
    ['while it imitates', ['clone.steps=100000', 'clone.batch=512'], 'imitating', 500],
    ['while it is evaluated', ['evaluation.finalTasks=4000'], 'evaluating before training', 0],
    ['while it acts', ['rollout.tasks=10000'], 'waits for 40000 episodes', 0],
    ['within one long step', ['optimizer.epochs=5000', 'rollout.tasks=64'], 'waits for gradient steps', 0],
  ])('ends within two seconds when it is asked to terminate %s', async (when, settings, phase, laterMs) => {
    const name = `terminated ${when}`.replaceAll(' ', '-');
    onTestFinished(() => rmSync(join(folder, name), { recursive: true, force: true }));
    const more = settings.flatMap((setting) => ['--set', setting]);
    const { child, ended } = start(['train', 'frozen-lake', '--name', name, ...TINY, ...more]);
    await says(child, phase);
    await new Promise((resolve) => setTimeout(resolve, laterMs));
    const began = performance.now();
    child.kill('SIGTERM');
    const { code, errors } = await ended;
    expect(performance.now() - began).toBeLessThan(2000);
    expect(INTERRUPTED).toContain(code);
    expect(errors).toMatch(/Go on from .* --runs RUNS\.$/);
  });

  test('may write no more: every event so far is kept, and it goes on when there is room', async () => {
    // Nothing stands in for the disk: the system lets no file grow beyond 35 KiB. Checkpoints fit, a long log does not.
    const settings = [
      ...TINY,
      '--set',
      'evaluation.finalTasks=2',
      '--set',
      'rolloutLog=0',
      '--set',
      'steps=70',
    ];
    const words = ['train', 'frozen-lake', '--name', 'full', ...settings];
    const { code, errors } = await start(words, 'ulimit -f 35').ended;
    expect(code).toBe(1);
    expect(errors).toMatchInlineSnapshot(
      `"error: The disk refused a write. Seen: EFBIG while writing RUNS/full/events.jsonl. All events before this one are kept, and so is the last checkpoint. Once it can be written, continue with: turnwise resume full --runs RUNS. (disk-failed)"`,
    );
    expect(readFileSync(join(folder, 'full', 'events.jsonl'), 'utf8')).toMatch(/}\n$/);
    expect(await start(['resume', 'full']).ended).toMatchObject({ code: 0, errors: '' });
  });

  test('of that name exists already', async () => {
    expect(await complaint('train', 'frozen-lake', '--name', 'tiny')).toMatchInlineSnapshot(
      `"error: A run named "tiny" already exists. Seen: RUNS/tiny. Continue it with "turnwise resume tiny --runs RUNS", choose another --name, or delete the folder. (run-exists) → 2"`,
    );
  });

  test('is not there', async () => {
    expect(await complaint('resume', 'tni')).toMatchInlineSnapshot(
      `"error: There is no run named "tni" in RUNS. Allowed: dropped, full, tiny. Did you mean "tiny"? (run-unknown) → 2"`,
    );
    expect(await complaint('eval', 'tni')).toBe(await complaint('resume', 'tni'));
    expect(await complaint('play', 'frozen-lake', '--run', 'tni')).toBe(await complaint('resume', 'tni'));
  });

  test('has no checkpoint of that step', async () => {
    const seen = await complaint('eval', 'tiny', '--step', '99');
    // The interruption may have left one of its own.
    expect(seen.replace(/steps \d+/, 'steps STEP')).toMatchInlineSnapshot(
      `"error: There is no checkpoint of step 99. Allowed: steps STEP, 40. Name one of these steps. (checkpoint-missing) → 1"`,
    );
  });

  test('was trained in another environment', async () => {
    expect(await complaint('play', 'maze', '--run', 'tiny')).toMatchInlineSnapshot(
      `"error: Run "tiny" was trained in another environment. Seen: maze. Allowed: frozen-lake. Watch it with: turnwise play frozen-lake --run tiny --runs RUNS. (run-other-environment) → 1"`,
    );
  });

  test('has a checkpoint with a flipped bit', async () => {
    const run = copyOfTiny('flipped');
    const weights = join(run, 'checkpoints', '40', 'model.safetensors');
    const bytes = readFileSync(weights);
    bytes[bytes.length - 5]! ^= 1;
    writeFileSync(weights, bytes);
    expect(await complaint('resume', 'flipped')).toMatchInlineSnapshot(
      `"error: The checkpoint of step 40 of run "flipped" is damaged. Seen: the contents of model.safetensors do not match their checksum. Delete RUNS/flipped/checkpoints/40 to continue from step 30. (checkpoint-corrupt) → 1"`,
    );
    expect(await complaint('eval', 'flipped')).toBe(await complaint('resume', 'flipped'));
    rmSync(join(run, 'checkpoints', '40'), { recursive: true });
    expect(await start(['resume', 'flipped']).ended).toMatchObject({ code: 0, errors: '' });
  });

  test('has a checkpoint of a run with other words', async () => {
    const short = [...TINY, '--set', 'steps=0'];
    expect(await start(['train', 'guess-number', '--name', 'other', ...short]).ended).toMatchObject({
      code: 0,
    });
    const run = copyOfTiny('mixed');
    cpSync(join(folder, 'other', 'checkpoints', '0'), join(run, 'checkpoints', '41'), { recursive: true });
    const seen = (await complaint('eval', 'mixed')).replace(/[0-9a-f]{16}/g, 'IDENTITY');
    expect(seen).toMatchInlineSnapshot(
      `"error: This checkpoint does not belong here. Seen: weights of IDENTITY in RUNS/mixed/checkpoints/41. Allowed: weights of IDENTITY. Use the version and settings that wrote it, or start a new run. (checkpoint-foreign) → 1"`,
    );
    expect((await complaint('resume', 'mixed')).replace(/[0-9a-f]{16}/g, 'IDENTITY')).toBe(seen);
  });

  test('has a configuration that another version wrote', async () => {
    const config = join(copyOfTiny('older'), 'config.json');
    edit(config, (text) =>
      text.replace(/"turnwise": ".*?"/, '"turnwise": "0.0.1"').replace('"seed"', '"seeds"'),
    );
    expect(await complaint('resume', 'older')).toMatchInlineSnapshot(
      `"error: The configuration of this run was written by another version. Seen: Turnwise 0.0.1: Unrecognized key: "seeds" (RUNS/older/config.json). Allowed: format 2 of Turnwise 0.1.0. Continue the run with the version that started it, or start a new run with this one. (config-version) → 1"`,
    );
  });

  test('has a configuration that was edited by hand', async () => {
    const config = join(copyOfTiny('edited'), 'config.json');
    edit(config, (text) => text.replace('"seed"', '"seeds"'));
    expect(await complaint('eval', 'edited')).toMatchInlineSnapshot(
      `"error: The configuration of this run cannot be read. Seen: RUNS/edited/config.json: Unrecognized key: "seeds". Restore the file, or start a new run. (config-corrupt) → 1"`,
    );
  });
});

describe('a command line', () => {
  test('names something that does not exist', async () => {
    expect(await complaint('trian', 'frozen-lake')).toMatchInlineSnapshot(
      `"error: There is no command "trian". Allowed: train, resume, eval, play, export, envs, gateway, data, reward-model, env, runs, view, tail, replay, rescore, compare, recipes, credit, serve. Did you mean "turnwise train"? (command-unknown) → 2"`,
    );
    expect(await complaint('train', 'frozen-lak')).toBe(
      `error: There is no environment "frozen-lak". Allowed: ${environmentNames.join(', ')}. Did you mean "frozen-lake"? (environment-unknown) → 2`,
    );
    expect(await complaint('train', 'frozen-lake', '--recipe', 'grop')).toMatchInlineSnapshot(
      `"error: There is no such recipe. Seen: "grop". Allowed: rloo, grpo, dr-grpo, dapo, gspo, cispo, reinforce, reinforce++, reinforce++-baseline, ppo, turn-gae, turn-ppo, bi-level-gae, gigpo, hgpo, step-grpo, igpo, matchtir, mt-grpo, g-ra, e-grpo, spa-rl, earl, arpo, aepo, tree-grpo, malt, epo, simpletir, clip-cov, kl-cov, tis, icepop, sequence-mask, self-play, mars, cory, waltzrl, dpo, kto, rebel, refuel, eto, agent-q, agent-r, sft, filtered-bc, awr, ilql, mc-returns, archer, archer-iql, digi-q, spear-sil, sft-rl, gtr, on-policy-distillation, distillation. Did you mean "grpo"? (recipe-unknown) → 2"`,
    );
    expect(await complaint('train', 'frozen-lake', '--nam', 'x')).toMatchInlineSnapshot(
      `"error: turnwise train has no option --nam. Did you mean --name? (option-unknown) → 2"`,
    );
  });

  test('sets a key that does not exist', async () => {
    const set = (assignment: string) => complaint('train', 'frozen-lake', '--set', assignment);
    expect(await set('optimizer.learningrat=1')).toMatchInlineSnapshot(
      `"error: There is no setting "optimizer.learningrat" for training frozen-lake. Did you mean "optimizer.learningRate"? (config-unknown-key) → 2"`,
    );
    expect(await set('environment.slipp=0.1')).toMatchInlineSnapshot(
      `"error: There is no setting "environment.slipp" for training frozen-lake. Did you mean "environment.slip"? (config-unknown-key) → 2"`,
    );
  });

  test('sets a value that is not allowed', async () => {
    const set = (assignment: string) => complaint('train', 'frozen-lake', '--set', assignment);
    expect(await set('steps=many')).toMatchInlineSnapshot(
      `"error: The value of "steps" is not allowed. Seen: many. Allowed: an integer at least 0. (config-invalid) → 2"`,
    );
    expect(await set('steps=-1')).toMatchInlineSnapshot(
      `"error: A run cannot use this value of "steps". Seen: -1. Allowed: a number >= 0. (config-invalid) → 2"`,
    );
    expect(await set('optimizer.schedule=cosinus')).toMatchInlineSnapshot(
      `"error: The value of "optimizer.schedule" is not allowed. Seen: cosinus (did you mean cosine?). Allowed: constant, linear, cosine. (config-invalid) → 2"`,
    );
    expect(await set('model.heads=3')).toMatchInlineSnapshot(
      `"error: model.heads does not fit model.width. Seen: heads 3, width 128. Allowed: a width that is a multiple of twice the heads, since positions rotate pairs of channels. Change one of them with --set. (config-invalid) → 2"`,
    );
    expect(await set('steps')).toMatchInlineSnapshot(
      `"error: A setting needs a key and a value. Seen: --set steps. Allowed: --set key=value, such as --set steps=50. (setting-syntax) → 2"`,
    );
  });

  test('leaves nothing behind when it is wrong', async () => {
    await complaint('train', 'frozen-lake', '--name', 'never', '--set', 'steps=-1');
    expect(existsSync(join(folder, 'never'))).toBe(false);
  });
});
