/** Environments that throw, hang, never end or flood: the run says what happened, and goes on wherever it can. */

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { user } from '../src/core/messages.ts';
import { defineEnvironment, type Environment } from '../src/env/environment.ts';
import { train } from '../src/exports/train.ts';
import type { RunEvent, StoredEvent } from '../src/train/loop/events.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-hostile-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const settings = {
  steps: 2,
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 32 },
  clone: { demonstrations: 16, steps: 2, batch: 4 },
  rollout: { tasks: 4, group: 4 },
  evaluation: { every: 0, finalTasks: 8 },
  rolloutLog: 0,
} as const;

type Word = { readonly word: string };

/** Say the word that was said; `parts` make it worse. */
const echo = (parts: Partial<Environment<Word, Word>> = {}): Environment<Word, Word> =>
  defineEnvironment<Word, Word>({
    name: 'echo',
    description: 'say the word that was said',
    maxTurns: 3,
    tasks: () => ({ size: 2, at: (index) => ({ word: index === 0 ? 'red' : 'blue' }) }),
    start: ({ word }) => ({ state: { word }, messages: [user(`say:${word}`)] }),
    step: (state, action) => {
      const success = action === state.word;
      return { state, observation: '', reward: success ? 1 : 0, done: true, success, valid: true };
    },
    actions: () => ['red', 'blue'],
    solve: ({ word }) => word,
    ...parts,
  });

const hostile = (
  name: string,
  parts: Partial<Environment<Word, Word>>,
  onEvent?: (event: RunEvent) => void,
) =>
  train({
    world: echo(parts),
    name,
    settings,
    runs: folder,
    ...(onEvent && { sinks: [{ event: onEvent }] }),
  });

test('an environment that never ends is ended at its turn limit', async () => {
  const { after } = await hostile('endless', {
    step: (state) => ({ state, observation: 'and?', reward: 0, done: false, valid: true }),
  });
  expect(after.sampled).toMatchObject({ episodes: 8, success: 0, turns: 3, stops: { 'turn-limit': 8 } });
});

test('an environment that always fails leaves nothing to imitate, and the commonest failure is named', async () => {
  const throwing = hostile('throwing', {
    start: () => {
      throw new Error('the lake has melted');
    },
  });
  await expect(throwing).rejects.toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: No demonstration of echo could be used. Seen: 16 × failed:environment: opening echo: the lake has melted. Correct the environment; brokenLaw() of turnwise/env checks one without training.]`,
  );
  const flooding = hostile('flooding', {
    step: (state) => ({ state, observation: 'x'.repeat(10e6), reward: 0, done: false, valid: true }),
  });
  await expect(flooding).rejects.toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: No demonstration of echo could be used. Seen: 16 × failed:environment: stepping <episode>: "echo" returned an observation that no model could read. Seen: 10000000 characters. Allowed: at most 1000000. Shorten or summarise it in the environment. Correct the environment; brokenLaw() of turnwise/env checks one without training.]`,
  );
});

test('a split without tasks is refused', async () => {
  const empty = hostile('empty', { tasks: () => ({ size: 0, at: () => ({ word: 'red' }) }) });
  await expect(empty).rejects.toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: "echo" has no tasks in its train split. Seen: size 0. Allowed: at least 1, or Infinity. Give tasks('train') a size and an at(index).]`,
  );
});

test('where every episode of a step fails, the step learns nothing, says so, and the next one learns', async () => {
  let broken = false;
  const events: StoredEvent[] = [];
  await hostile(
    'flaky',
    {
      step: (state, action, rng) => {
        if (broken) throw new Error('out of ice');
        return echo().step(state, action, rng);
      },
    },
    (event) => {
      if (event.type === 'phase' && event.phase === 'train') broken = true;
      if (event.type === 'step') broken = false;
      if (event.type !== 'progress') events.push(event);
    },
  );
  const said = events.flatMap((event) =>
    event.type === 'warning' ? [`${event.code}: ${event.message}`] : [],
  );
  expect(said.slice(0, 2)).toMatchInlineSnapshot(`
    [
      "episodes-failed: step 1: 16 × failed:environment: stepping <episode>: out of ice",
      "nothing-learned: step 1: no update was made, because no group had enough usable episodes",
    ]
  `);
  const [failed, learned] = events.flatMap((event) => (event.type === 'step' ? [event.metrics] : []));
  expect(failed).toMatchObject({ 'episodes/failed': 16, 'groups/dropped': 4, 'tokens/trained': 0 });
  expect(learned).toMatchObject({ 'episodes/failed': 0, 'groups/dropped': 0 });
  expect(events.at(-1)?.type).toBe('finish');
});

const exportsPath = new URL('../dist/src/exports/index.js', import.meta.url).pathname;

/** A program of its own, because it cannot be stopped from inside. */
const HANGING = `
import { defineEnvironment, train } from ${JSON.stringify(exportsPath)};
const environment = defineEnvironment({
  name: 'spinning',
  description: 'never returns',
  maxTurns: 3,
  tasks: () => ({ size: 1, at: () => null }),
  start: () => ({ state: null, messages: [{ role: 'user', content: 'go' }] }),
  step: () => { for (;;); },
  actions: () => ['go'],
  solve: () => 'go',
});
const settings = { rollout: { turnTimeoutMs: 400 }, clone: { demonstrations: 4 } };
await train({ world: environment, settings, name: 'spinning', runs: ${JSON.stringify(folder)} });
`;

test('a step that never returns ends the process, which names the step and how to go on', async () => {
  if (!existsSync(exportsPath)) throw new Error(`${exportsPath} does not exist: run "npm run build" first`);
  const child = spawn(process.execPath, ['--input-type=module', '-e', HANGING]);
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const signal = await new Promise((resolve) => child.on('close', (_code, ending) => resolve(ending)));
  expect(signal).toBe('SIGKILL');
  const message = errors
    .replace(/\d+\.\d+ s/, 'TIME s')
    .replace(folder, 'RUNS')
    .trim();
  expect(message).toMatchInlineSnapshot(
    `"environment-hangs: stepping 0/0/0 turn 0 has not returned for TIME s and blocks the whole process, which is ended now. Correct the environment, then continue with: turnwise resume spinning --runs RUNS"`,
  );
});
