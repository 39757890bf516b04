/** A policy that learns nothing says why, with examples and settings to try: in every shipped environment, within two steps. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { train } from '../../exports/train.ts';
import { environmentNames } from '../../run/load/environments.ts';
import type { TrainSettings } from '../config/config.ts';
import { trainConfigSchema } from '../config/config.ts';
import { diagnose } from './diagnosis.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-diagnosis-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A model that has imitated next to nothing. */
const settings: TrainSettings = {
  steps: 2,
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 32 },
  clone: { demonstrations: 40, steps: 1, batch: 4 },
  rollout: { tasks: 4, group: 4 },
  evaluation: { every: 0, tasks: 1, finalTasks: 1 },
};

interface Told {
  readonly type: string;
  readonly code?: string;
  readonly message?: string;
  readonly facts?: Readonly<Record<string, unknown>>;
}

test.each(environmentNames)(
  'an untrained policy in %s',
  async (world) => {
    await train({ world, settings, name: world, runs: folder });
    const events = readFileSync(join(folder, world, 'events.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Told);
    const found = events.find(({ code }) => code === 'hardly-learning');
    expect(found?.message).toMatch(
      /^step [12]: hardly anything can be learned: \d+% of turns invalid .*Try --/,
    );
    expect(found?.facts).toMatchObject({
      invalidShare: expect.any(Number),
      silentShare: expect.any(Number),
      unanimousShare: expect.any(Number),
      entropy: expect.any(Number),
      cutShare: expect.any(Number),
      next: expect.arrayContaining([expect.stringContaining('--')]),
    });
  },
  60_000,
);

test('nothing is said of a policy that never acted', () => {
  expect(diagnose([], {}, undefined, trainConfigSchema.parse({}))).toBeUndefined();
});
