/** A context of a paper, written as a user writes it. */

import { afterAll, describe, expect, test } from 'vitest';
import type { Episode } from '../../src/core/episode.ts';
import { defineEnvironment, train, user } from '../../src/exports/index.ts';
import { readEpisodeFile } from '../../src/store/rollouts/read-episodes.ts';
import { cave } from './contexts.ts';
import { expectSameCredit, folder, removeRuns, shard, tiny } from './short-runs.test-helper.ts';

afterAll(removeRuns);

describe('a context that compacts', () => {
  /** Ten turns of a long result each; the last one ends it. */
  const reading = defineEnvironment<null, { turn: number }>({
    name: 'reading',
    description: '',
    maxTurns: 12,
    tasks: () => ({ size: 4, at: () => null }),
    start: () => ({ state: { turn: 0 }, messages: [user('question')] }),
    step: ({ turn }, action) => ({
      state: { turn: turn + 1 },
      observation: `result ${'of many words '.repeat(3)}`,
      ...{ reward: turn === 9 ? 1 : 0, done: turn === 9, success: turn === 9, valid: action === 'read' },
    }),
    actions: () => ['read'],
    solve: () => 'read',
  });

  async function played(options: object): Promise<Episode[]> {
    const name = `cave-${Object.values(options).join('-').replaceAll('.', '')}`;
    await train({
      ...{ world: reading, recipe: 'grpo', name, runs: folder },
      settings: { ...tiny, steps: 1, rollout: { tasks: 2, group: 2 }, context: { name: cave, ...options } },
    });
    return readEpisodeFile(shard(name, 1))!.groups.flatMap(({ members }) => members);
  }

  test('CaveAgent: results are left out first, all but the latest', async () => {
    const episodes = await played({ compactAt: 0.5, intact: 2, fewest: 20 });
    const parts = episodes.flatMap(({ calls }) => calls.map((call) => call.parts ?? []));
    const omitted = parts.map(
      (own) => own.filter((part) => 'content' in part && part.content === '[result omitted]').length,
    );
    expect(Math.max(...omitted)).toBeGreaterThan(1);
    for (const own of parts) {
      const shown = own.filter((part) => 'shown' in part);
      // The question, the latest two and what is new.
      if (own.some((part) => 'content' in part)) expect(shown).toHaveLength(1 + 2 + 1);
    }
    expect(episodes.every(({ calls }) => calls.every(({ purpose }) => purpose === 'act'))).toBe(true);
  });

  test('CaveAgent: then the older half becomes a summary, which is trained', async () => {
    const episodes = await played({ compactAt: 0.15, intact: 2, fewest: 2 });
    const asked = episodes.flatMap(({ calls }) => calls.filter(({ purpose }) => purpose === 'summarize'));
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.every(({ trainable }) => trainable === true)).toBe(true);
    await expectSameCredit('cave-015-2-2', 1);
  });
});
