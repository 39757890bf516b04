/** User code whose errors nobody awaits, and that never stops: the run goes on, says so, and its process ends by itself. */

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const main = new URL('../dist/src/cli/main.js', import.meta.url).pathname;
const env = new URL('../dist/src/exports/env.js', import.meta.url).href;
const folder = mkdtempSync(join(tmpdir(), 'turnwise-strays-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Say the word that was said; `top` and `step` are lines of code that make it worse. */
const leaky = (parts: { readonly top?: string; readonly step?: string }): string => `
import { defineEnvironment, fromEnvironment } from ${JSON.stringify(env)};
${parts.top ?? ''}
let steps = 0;
export const environment = defineEnvironment({
  name: 'leaky',
  description: 'say the word that was said',
  maxTurns: 3,
  tasks: () => ({ size: 2, at: (index) => ({ word: index === 0 ? 'red' : 'blue' }) }),
  start: ({ word }) => ({ state: { word }, messages: [{ role: 'user', content: 'say:' + word }] }),
  step: (state, action) => {
    steps++;
    ${parts.step ?? ''}
    const success = action === state.word;
    return { state, observation: '', reward: success ? 1 : 0, done: true, success, valid: true };
  },
  actions: () => ['red', 'blue'],
  solve: ({ word }) => word,
});
`;

const settings = {
  ...{ steps: 2, threads: 1, 'model.width': 16, 'model.layers': 1, 'model.heads': 2, 'model.hidden': 32 },
  ...{
    'clone.demonstrations': 16,
    'clone.steps': 2,
    'clone.batch': 4,
    'rollout.tasks': 4,
    'rollout.group': 4,
  },
  ...{ 'evaluation.every': 0, 'evaluation.finalTasks': 8, rolloutLog: 0 },
};

async function train(name: string, source: string) {
  if (!existsSync(main)) throw new Error(`${main} does not exist: run "npm run build" first`);
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, source);
  const set = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  const words = ['train', file, '--name', name, '--runs', folder, '--json', ...set];
  const child = spawn(process.execPath, [main, ...words]);
  let out = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  const events = out.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
  const warnings = events.flatMap(({ type, code, message }) =>
    type === 'warning' ? [`${code}: ${message}`] : [],
  );
  return { code, errors, warnings, last: events.at(-1)?.type };
}

test('an interval that is never cleared does not keep a finished run alive', async () => {
  const { code, last } = await train('interval', leaky({ top: 'setInterval(() => {}, 1000);' }));
  expect({ code, last }).toEqual({ code: 0, last: 'finish' });
});

test('errors in no episode are counted in one warning a step, and the run goes on', async () => {
  const top = "setInterval(() => { void Promise.reject(new Error('heartbeat lost')); }, 1);";
  const { code, last, warnings } = await train('heartbeat', leaky({ top }));
  expect({ code, last }).toEqual({ code: 0, last: 'finish' });
  const told = warnings.filter((warning) => warning.startsWith('stray-errors'));
  expect(told.length).toBeGreaterThan(0);
  expect(told[0]!.replace(/\d+ unhandled/, 'N unhandled')).toMatchInlineSnapshot(
    `"stray-errors: N unhandled errors in the background work of the environment, outside any running episode. First: heartbeat lost"`,
  );
});

test('an error that began in a call of an episode names that call', async () => {
  const step = "if (steps % 8 === 0) void Promise.reject(new Error('stream broke'));";
  const { code, last, warnings } = await train('stream', leaky({ step }));
  expect({ code, last }).toEqual({ code: 0, last: 'finish' });
  expect(warnings.join('\n')).toMatch(/stepping .*stream broke/);
});

test('an exception in a timer, thrown as something hostile, ends nothing', async () => {
  const step = 'if (steps % 8 === 0) setTimeout(() => { throw { toString() { throw 1; } }; }, 0);';
  const { code, last } = await train('timer', leaky({ step }));
  expect({ code, last }).toEqual({ code: 0, last: 'finish' });
});
