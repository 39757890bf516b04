/** A run whose signal is aborted drops everything at once, also where no episode of it is under way. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { defineRecipe } from '../src/exports/index.ts';
import { type StartOptions, start, train } from '../src/exports/train.ts';
import { readEvents } from '../src/store/log-lines.ts';
import { RunDirectory } from '../src/store/run-directory.ts';
import type { TrainSettings } from '../src/train/config/config.ts';
import { readBy } from '../src/train/config/run-schema.ts';
import type { StoredEvent } from '../src/train/loop/events.ts';
import { findRecipe } from '../src/train/recipes/recipes.ts';
import { echo } from './echoes.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-aborted-'));
afterAll(() => rmSync(runs, { recursive: true, force: true }));

const settings: TrainSettings = {
  steps: 30,
  threads: 1,
  model: { width: 8, layers: 1, heads: 1, hidden: 8 },
  clone: { demonstrations: 8, steps: 2, batch: 4 },
  rollout: { tasks: 8, group: 2, concurrency: 2 },
  evaluation: { every: 0, finalTasks: 2 },
  checkpoint: { every: 1, keep: 9 },
};

const settingsOf = (recipe: string, more: TrainSettings = {}) =>
  readBy(findRecipe(recipe), { ...settings, ...more });

/** There is nothing to learn in it: every episode succeeds. */
const easy: typeof echo = { ...echo, step: (...at) => ({ ...echo.step(...at), success: true }) };

interface Aborted
  extends Pick<StartOptions<{ word: string }, { word: string; turn: number }>, 'recipe' | 'settings'> {
  readonly stop: AbortController;
  readonly world?: typeof echo;
  readonly event?: (event: StoredEvent) => void;
}

/** Runs until it is aborted: how many steps were told, and after which it can go on. */
async function aborted(name: string, { stop, world = easy, event = () => {}, ...own }: Aborted) {
  const run = await start({ ...own, world, name, runs, sinks: [{ event }], signal: stop.signal });
  await expect(run.finished).rejects.toMatchObject({ code: 'cancelled' });
  const told = readEvents(join(runs, name, 'events.jsonl')).filter(({ type }) => type === 'step').length;
  const { checkpoints } = RunDirectory.openForReading({ root: runs, name, version: '0.1.0' });
  return { told, kept: checkpoints.steps() };
}

test('a run that plays no episodes learns no further, and keeps nothing more', async () => {
  const source = settingsOf('rloo', { steps: 1, rolloutLog: 1 });
  await train({ world: easy, recipe: 'rloo', name: 'source', runs, settings: source });
  const stop = new AbortController();
  const event = (one: StoredEvent): void => {
    if (one.type === 'step' && one.step === 2) stop.abort();
  };
  const own = { recipe: 'sft', settings: settingsOf('sft', { data: 'source' }) };
  expect(await aborted('sft', { ...own, stop, event })).toEqual({ told: 2, kept: [0, 1] });
});

test('a step is not told of that was learned meanwhile', async () => {
  const stop = new AbortController();
  const recipe = defineRecipe({
    name: 'stopping',
    learn:
      () =>
      async (_, __, { step }) => {
        if (step === 2) stop.abort();
        return { memory: null };
      },
  });
  expect(await aborted('learning', { recipe, settings, stop })).toEqual({ told: 1, kept: [0, 1] });
});

test('an expert that is asked while a step is learned stops in its turn', async () => {
  const stop = new AbortController();
  let isTraining = false;
  let turns = 0;
  const solve: typeof echo.solve = ({ word }) => {
    if (isTraining) {
      turns++;
      stop.abort();
    }
    return word;
  };
  const event = (one: StoredEvent): void => {
    isTraining ||= one.type === 'phase' && one.phase === 'train';
  };
  const own = { recipe: 'eto', settings: settingsOf('eto'), world: { ...echo, solve } };
  expect(await aborted('eto', { ...own, stop, event })).toEqual({ told: 0, kept: [0] });
  // One more was under way.
  expect(turns).toBeLessThanOrEqual(2);
});
