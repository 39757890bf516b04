import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { madeGroup, madeKey, playedEpisode } from '../../core/testing/made-episodes.ts';
import { roleGroups } from '../../core/trajectory.ts';
import { train } from '../../exports/train.ts';
import type { Idle } from '../recipes/recipe.ts';
import { findRecipe } from '../recipes/recipes.ts';
import type { Update } from './learn-step.ts';
import { idleWatch, updateWarnings } from './warnings.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-idle-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('other log-probabilities than sampled are expected of stale and of inserted episodes alone', () => {
  const update = { metrics: { 'policy/kl_sample_train': 1e-4 }, updates: 1 } as unknown as Update;
  const groupOf = (step: number) =>
    roleGroups([
      madeGroup(playedEpisode(0, [{}]), playedEpisode(1, [{}], { key: madeKey({ step, member: 1 }) })),
    ]);
  const codes = (step: number, groups = groupOf(step), staleness = 0) =>
    updateWarnings(step, update, groups, staleness).map((event) => 'code' in event && event.code);
  expect(codes(1)).toEqual(['sampler-differs']);
  // The first member is of step 1.
  expect(codes(2)).toEqual([]);
  expect(codes(1, groupOf(1), 1)).toEqual([]);
});

describe('a recipe that changes nothing', () => {
  const idle: Idle = { metric: 'gap', atMost: 0.1, means: 'grpo learns the same' };
  /** Whether each step tells of it, after steps with these values. */
  const told = (gaps: readonly (number | undefined)[], from = 0, planned = 100): boolean[] => {
    const watch = idleWatch(idle);
    return gaps.map((gap, index) => {
      const step = from + index + 1;
      return watch(step, gap === undefined ? {} : { gap }, step === planned).length > 0;
    });
  };

  test('is told of once, after the fifth step, or at the end of a shorter run', () => {
    expect(told([0, 0.1, undefined, 0, 0, 0, 0])).toEqual([false, false, false, false, true, false, false]);
    expect(told([0, 0], 0, 2)).toEqual([false, true]);
  });

  test('is not told of where it was at work once, where nothing was measured, and after a resumption', () => {
    expect(told([0, 0.11, 0, 0, 0])).not.toContain(true);
    expect(told([undefined, undefined, undefined, undefined, undefined])).not.toContain(true);
    expect(told([0, 0, 0], 2)).not.toContain(true);
    expect(idleWatch(undefined)(5, { gap: 0 }, true)).toEqual([]);
  });

  test('dapo says so where no group is unanimous', () => {
    const told = (share: number) =>
      idleWatch(findRecipe('dapo').idle)(1, { 'groups/constant_share': share }, true);
    expect(told(0)).toMatchObject([{ code: 'recipe-idle' }]);
    expect(JSON.stringify(told(0))).toContain('no group is unanimous');
    expect(told(0.1)).toEqual([]);
  });

  test.each([
    ['tis', 'sampler and trainer agree, nothing is corrected, and grpo learns the same'],
    ['icepop', 'sampler and trainer agree, nothing is corrected, and grpo learns the same'],
    ['sequence-mask', 'sampler and trainer agree, nothing is corrected, and grpo learns the same'],
    ['grpo', undefined],
  ] as const)('%s in the embedded engine: told %s', async (recipe, means) => {
    await train({
      ...{ world: 'bandits', recipe, name: recipe, runs: folder },
      settings: {
        ...{ steps: 2, threads: 1, model: { width: 16, layers: 1, heads: 2, hidden: 32 } },
        clone: { demonstrations: 24, steps: 10, batch: 4 },
        rollout: { tasks: 4, group: 4 },
        evaluation: { every: 0, tasks: 1, finalTasks: 1 },
      },
    });
    const events = readFileSync(join(folder, recipe, 'events.jsonl'), 'utf8');
    expect(events.includes('"code":"recipe-idle"')).toBe(means !== undefined);
    if (means) expect(events).toContain(means);
  });
});
