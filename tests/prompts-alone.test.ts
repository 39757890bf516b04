/** Runs in which only prompts learn: the weights stay as they are, and the log tells what was tried. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { eventLine } from '../src/cli/terminal/tail-text.ts';
import type { RunSettings } from '../src/exports/index.ts';
import { resume, start, train } from '../src/exports/train.ts';
import { readEvents } from '../src/store/log-lines.ts';
import { noHistory, withEvent } from '../src/view/history.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-prompts-alone-'));
afterAll(() => rmSync(runs, { recursive: true, force: true }));

const settings = {
  seed: 3,
  steps: 3,
  threads: 1,
  model: { width: 8, layers: 1, heads: 1, hidden: 8 },
  clone: { demonstrations: 24, steps: 8, batch: 8 },
  rollout: { tasks: 4, group: 2, maxTurns: 6 },
  evaluation: { every: 0, finalTasks: 2 },
  checkpoint: { every: 1, keep: 9 },
  prompts: { name: 'population', initial: ['', 'left', 'down'], trials: 1, alone: true },
} satisfies RunSettings;

/** Behind the head, which counts versions. */
const weightsOf = (name: string, step: number): Buffer => {
  const file = readFileSync(join(runs, name, 'checkpoints', String(step), 'model.safetensors'));
  return file.subarray(8 + file.readUInt32LE(0));
};
const eventsOf = (name: string) => readEvents(join(runs, name, 'events.jsonl'));

test('no gradient is computed, no weight changes, and the log tells what each prompt earned', {
  timeout: 120_000,
}, async () => {
  await train({ world: 'frozen-lake', recipe: 'rloo', name: 'alone', runs, settings });
  expect(weightsOf('alone', 3).equals(weightsOf('alone', 0))).toBe(true);
  const events = eventsOf('alone');
  const steps = events.flatMap((event) => (event.type === 'step' ? [event.metrics] : []));
  expect(steps.map((metrics) => metrics['tokens/trained'])).toEqual([0, 0, 0]);
  expect(steps.every((metrics) => !('optim/gradient_norm' in metrics))).toBe(true);
  const finish = events.findLast((event) => event.type === 'finish');
  expect(finish?.summary.tokens).toMatchObject({ trained: 0, scored: 0 });
  expect(events.some((event) => event.type === 'warning' && event.code === 'nothing-learned')).toBe(false);
  expect(events.find((event) => event.type === 'phase' && event.phase === 'train')).toMatchObject({
    still: true,
  });
  const told = events.flatMap((event) => (event.type === 'prompts' ? [event] : []));
  expect(told.map(({ step }) => step)).toEqual([1, 2, 3]);
  const texts: Record<string, string> = Object.assign({}, ...told.map((one) => one.texts));
  expect(Object.values(texts).every((text) => settings.prompts.initial.includes(text))).toBe(true);
  for (const { used, best } of told) {
    expect(used.reduce((sum, { groups }) => sum + groups, 0)).toBe(4);
    expect([...used.map(({ prompt }) => prompt), best].every((id) => id in texts)).toBe(true);
  }
  expect(eventLine(told.at(-1)!)).toMatch(/step 3: \d prompts tried, (the best|another is the best): /);
});

test('a page knows the prompts with the means of all their groups', () => {
  const events = eventsOf('alone');
  const { prompts, bestPrompt, still } = events.reduce(withEvent, noHistory);
  const told = events.flatMap((event) => (event.type === 'prompts' ? [event] : []));
  expect(still).toBe(true);
  expect(prompts.map(({ id }) => id)).toContain(bestPrompt);
  for (const { id, groups, return: earned } of prompts) {
    const own = told.flatMap(({ used }) => used.filter(({ prompt }) => prompt === id));
    const all = own.reduce((sum, one) => sum + one.groups, 0);
    expect(groups).toBe(all);
    expect(earned).toBeCloseTo(own.reduce((sum, one) => sum + one.groups * one.return, 0) / all, 9);
  }
});

test('it goes on from a checkpoint as if it had not been stopped', { timeout: 120_000 }, async () => {
  const run = await start({ world: 'frozen-lake', recipe: 'rloo', name: 'cut', runs, settings });
  for await (const event of run.events) if (event.type === 'step' && event.step === 1) run.stop();
  await run.finished.catch(() => undefined);
  await (await resume('cut', { runs })).finished;
  const usedIn = (name: string) =>
    new Map(eventsOf(name).flatMap((event) => (event.type === 'prompts' ? [[event.step, event.used]] : [])));
  expect(usedIn('cut')).toEqual(usedIn('alone'));
});

/** Answers the same to the same question, so that a run that goes on is told what the other was. */
const SCRIPT = `export const steady = {
  kind: 'proposer',
  name: 'steady',
  summary: '',
  create: () => async (messages) => {
    const asked = messages.map(({ content }) => content).join(' ');
    const word = ['up', 'down', 'left', 'right'][[...asked].reduce((sum, one) => sum + one.charCodeAt(0), 0) % 4];
    const list = JSON.stringify([{ op: 'ADD', text: word }]);
    return { text: asked.includes('JSON') ? list : '<instruction>' + word + '</instruction>', by: 'steady' };
  },
};
`;

test.each(['experiences', 'reflection'])(
  '%s go on from a checkpoint with what they remember, and change what is read',
  { timeout: 120_000 },
  async (name) => {
    const proposer = join(runs, 'steady.ts');
    writeFileSync(proposer, SCRIPT);
    const own =
      name === 'experiences' ? { instruction: 'up', heading: 'down' } : { initial: 'up', trials: 1 };
    const remembering: RunSettings = {
      ...settings,
      steps: 5,
      // Small lakes, at which some episodes of a group succeed and others fail.
      environment: { size: 3, holes: 0.1, minimumPath: 1 },
      rollout: { tasks: 4, group: 4, maxTurns: 3 },
      prompts: { name, proposer, alone: true, ...own },
    };
    const given = { world: 'frozen-lake', recipe: 'rloo', runs, settings: remembering };
    await train({ ...given, name: `${name}-whole` });
    const run = await start({ ...given, name: `${name}-cut` });
    for await (const event of run.events) if (event.type === 'step' && event.step === 3) run.stop();
    await run.finished.catch(() => undefined);
    await (await resume(`${name}-cut`, { runs })).finished;
    const told = (run: string) =>
      new Map(
        eventsOf(`${name}-${run}`).flatMap((event) =>
          event.type === 'prompts' ? [[event.step, { used: event.used, best: event.best }] as const] : [],
        ),
      );
    const whole = told('whole');
    expect(told('cut')).toEqual(whole);
    expect(
      new Set([...whole.values()].flatMap(({ used }) => used.map(({ prompt }) => prompt))).size,
    ).toBeGreaterThan(1);
  },
);

test('without a source of prompts nothing would learn', async () => {
  const none = { ...settings, prompts: { alone: true } };
  await expect(
    train({ world: 'frozen-lake', recipe: 'rloo', name: 'none', runs, settings: none }),
  ).rejects.toThrow(/needs a source of prompts, since prompts\.alone=true/);
});

test('what only learning needs is not asked for', { timeout: 120_000 }, async () => {
  const single = { ...settings, steps: 1, rollout: { tasks: 4, group: 1, maxTurns: 6 } };
  for (const recipe of ['ppo', 'mt-grpo'])
    await train({ world: 'frozen-lake', recipe, name: `unasked-${recipe}`, runs, settings: single });
  expect(eventsOf('unasked-ppo').filter(({ type }) => type === 'prompts')).toHaveLength(1);
});
