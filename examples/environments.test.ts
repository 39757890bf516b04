/** The examples of each tier keep the laws, train, and are what the guide shows. */

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { brokenWorldLaw } from '../src/env/laws/environment-laws.ts';
import { playEpisode } from '../src/env/play.ts';
import { train } from '../src/exports/train.ts';
import { findEnvironment } from '../src/run/load/environments.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-examples-'));
afterAll(() => rmSync(runs, { recursive: true, force: true }));
beforeAll(() => {
  const built = new URL('../dist/src/exports/index.js', import.meta.url);
  if (!existsSync(built)) throw new Error('run "npm run build" first');
});

const path = (name: string): string => new URL(name, import.meta.url).pathname;
const read = (name: string): string => readFileSync(path(name), 'utf8');

test('sessions written by hand keep the laws and train', { timeout: 60_000 }, async () => {
  const world = (await findEnvironment(path('handover.ts'))).create({});
  for (let seed = 0; seed < 10; seed++) {
    const task = world.tasks('train').at(seed % 3);
    expect(await brokenWorldLaw(world, task, seed)).toBeUndefined();
    expect(await playEpisode(world, task, seed, 'expert')).toMatchObject({ outcome: 1, success: true });
  }
  const settings = {
    steps: 1,
    threads: 1,
    model: { width: 16, layers: 1, heads: 2, hidden: 16 },
    clone: { demonstrations: 16, steps: 4, batch: 8 },
    rollout: { tasks: 4, group: 2 },
    evaluation: { every: 0, finalTasks: 4 },
  };
  const { steps } = await train({ world: path('handover.ts'), recipe: 'grpo', settings, runs });
  expect(steps).toBe(1);
});

test('the guide shows them word for word', () => {
  const guide = read('../docs/write-an-environment.md');
  for (const name of ['note-desk.ts', 'handover.ts']) {
    const source = read(name);
    expect(guide).toContain(source.slice(source.indexOf('import ')).trim());
  }
});
