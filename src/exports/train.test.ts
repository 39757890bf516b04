import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { samplesOf } from '../core/sample.ts';
import { defineEnvironment } from '../env/environment.ts';
import type { Sink } from '../run/sinks/sink.ts';
import { readEvents } from '../store/log-lines.ts';
import type { TrainSettings } from '../train/config/config.ts';
import type { Probe } from '../train/loop/probe.ts';
import { resume, start, train } from './train.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-train-'));
afterAll(() => rmSync(runs, { recursive: true, force: true }));

/** Say the word that was said. */
const echo = defineEnvironment<number, number>({
  name: 'echo',
  description: 'Repeat the word.',
  maxTurns: 2,
  tasks: () => ({ size: 4, at: (index) => index }),
  start: (task) => ({ state: task, messages: [{ role: 'user', content: `word${task}` }] }),
  step: (state, action) => {
    const success = action === `word${state}`;
    return {
      state,
      observation: 'again',
      reward: success ? 1 : 0,
      done: success,
      success,
      valid: action.startsWith('word'),
    };
  },
  actions: () => ['word0', 'word1', 'word2', 'word3'],
  solve: (state) => `word${state}`,
});

const settings: TrainSettings = {
  steps: 3,
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 16 },
  clone: { demonstrations: 20, steps: 5, batch: 8 },
  rollout: { tasks: 4, group: 4 },
  evaluation: { every: 1, tasks: 8, finalTasks: 8 },
  checkpoint: { every: 1, keep: 9 },
};

/** The events of a run without times and without how it began. */
function history(name: string): unknown[] {
  return readEvents(join(runs, name, 'events.jsonl'))
    .map(
      (event) =>
        JSON.parse(JSON.stringify(event), (key, value: unknown) =>
          isTiming(key) ? undefined : value,
        ) as object,
    )
    .filter((event) => !('type' in event) || !['clone', 'resume'].includes(event.type as string))
    .filter((event) => !('phase' in event && event.phase === 'clone'));
}

const isTiming = (key: string): boolean =>
  ['time', 'seconds', 'run', 'generation', 'keeps', 'from'].includes(key) || /^(time|speed|loop)\//.test(key);

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    (error: Error & { code: string }) => `${error.code}: ${error.message.replaceAll(runs, 'FOLDER')}`,
  );

test('a run that begins with the warm start of another is the run it would be alone, with or without a critic', async () => {
  const common = { world: echo, runs };
  await train({ ...common, recipe: 'rloo', name: 'start', settings: { ...settings, steps: 0 } });
  for (const recipe of ['ppo', 'rloo']) {
    await train({ ...common, recipe, name: `${recipe}-alone`, settings });
    await train({ ...common, recipe, name: `${recipe}-shared`, settings: { ...settings, start: 'start' } });
    expect(history(`${recipe}-shared`)).toEqual(history(`${recipe}-alone`));
  }
});

test('a run that leaves untrained what its context asks for begins with the warm start of one that trains it', async () => {
  const common = { world: echo, runs, recipe: 'rloo' };
  const context = (trained: boolean) => ({ ...settings, context: { name: 'state', trained } });
  await train({ ...common, name: 'asked', settings: { ...context(true), steps: 0 } });
  await train({ ...common, name: 'unasked-alone', settings: context(false) });
  await train({ ...common, name: 'unasked-shared', settings: { ...context(false), start: 'asked' } });
  expect(history('unasked-shared')).toEqual(history('unasked-alone'));
});

test('a warm start of other settings, or that is gone, is refused', async () => {
  const other = { ...settings, start: 'start', model: { ...settings.model, width: 32 } };
  expect(await codeOf(train({ world: echo, runs, settings: other }))).toMatchInlineSnapshot(
    `"start-mismatch: The warm start of run "start" is one of other settings: model.width. Seen: 32. Allowed: 16. Use the settings of that run, or leave out "start"."`,
  );
  await train({ world: echo, runs, name: 'short', settings: { ...settings, checkpoint: { keep: 1 } } });
  const late = { ...settings, start: 'short' };
  expect(await codeOf(train({ world: echo, runs, settings: late }))).toMatchInlineSnapshot(
    `"start-missing: Run "short" has no warm start to begin with. Seen: checkpoints of steps 3. Make a run that keeps it: train({ world, name, settings: { steps: 0 } })."`,
  );
});

/** Begin a run and stop it after its first step. */
async function stoppedRun(name: string): Promise<string> {
  const stop: Sink = {
    event: ({ type }) => {
      if (type === 'step') run.stop();
    },
  };
  const run = await start({ world: echo, runs, name, settings, sinks: [stop] });
  return codeOf(run.finished);
}

test('a stop keeps the step under way, and the run goes on from there as if it had not been stopped', async () => {
  expect(await stoppedRun('stopped')).toBe('cancelled: The run was asked to stop after step 1.');
  await (await resume('stopped', { world: echo, runs })).finished;
  expect(history('stopped')).toEqual(history('rloo-alone'));
});

test('a run that goes on with another version of onnxruntime says so, in its history too', async () => {
  const name = 'other-kernels';
  await stoppedRun(name);
  const log = join(runs, name, 'events.jsonl');
  const text = readFileSync(log, 'utf8');
  const [recorded] = /onnxruntime \d+\.\d+\.\d+/.exec(text)!;
  writeFileSync(log, text.replace(recorded, recorded.replace(/\d/g, '0')));
  await (await resume(name, { world: echo, runs })).finished;
  const codes = history(name).flatMap((event) => (event as { code?: string }).code ?? []);
  expect(codes.filter((code) => code !== 'hardly-learning')).toEqual(['runtime-differs']);
});

test('a budget of tokens ends a run after the step that spends it', async () => {
  const { tokens } = await train({ world: echo, runs, name: 'unlimited', settings });
  const half = Math.round((tokens.forward + tokens.trained) / 2);
  const { steps, after } = await train({
    world: echo,
    runs,
    settings: { ...settings, budget: { tokens: half } },
  });
  expect(steps).toBe(2);
  expect(after.sampled.episodes).toBe(8);
});

test('probes of a program look at the learner, and have their state back when the run goes on', async () => {
  const looks: (number | null)[] = [];
  const drift: Probe<{ readonly rows: number[][]; readonly looks: number }> = {
    name: 'drift',
    run: async (learner, { state, groups }) => {
      looks.push(state?.looks ?? null);
      const rows =
        state?.rows ?? groups.flatMap((group) => samplesOf(group, 'learner')).map(({ ids_T }) => [...ids_T]);
      const { logprobs } = await learner.score(rows.map((ids) => Int32Array.from(ids)));
      const { success } = await learner.evaluate({ tasks: 4 });
      const all = logprobs.flatMap((row) => [...row]);
      const logprob = all.reduce((sum, one) => sum + one, 0) / all.length;
      return { state: { rows, looks: (state?.looks ?? 0) + 1 }, metrics: { logprob, success } };
    },
  };
  const own = { ...settings, evaluation: { every: 0, finalTasks: 4 } };
  const run = await start({ world: echo, settings: own, name: 'probed', runs, probes: [drift] });
  for await (const event of run.events) if (event.type === 'step') run.stop();
  await expect(run.finished).rejects.toMatchObject({ code: 'cancelled' });
  await (await resume('probed', { world: echo, runs, probes: [drift] })).finished;
  expect(looks).toEqual([null, 1, 2]);
  await train({ world: echo, settings: own, name: 'unprobed', runs });
  const measured = readEvents(join(runs, 'probed', 'events.jsonl')).flatMap((event) =>
    event.type === 'step' ? [event.metrics] : [],
  );
  for (const metrics of measured) {
    expect(metrics['drift/logprob']).toBeLessThan(0);
    expect(metrics['drift/success']).toBeGreaterThanOrEqual(0);
  }
  // Watching changes nothing.
  const plain = JSON.parse(JSON.stringify(history('probed')), (key, value: unknown) =>
    key.startsWith('drift/') ? undefined : value,
  );
  expect(plain).toEqual(history('unprobed'));
});
