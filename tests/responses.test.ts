/** WaltzRL, CORY and MALT on the worlds of answers and feedback that wrappers make: what they pay is what their formulas say. */

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Episode, Group } from '../src/core/episode.ts';
import { answerAndFeedback } from '../src/env/wrap/answer-and-feedback.ts';
import { deliberation } from '../src/env/wrap/deliberation.ts';
import { echo } from '../src/env/wrap/echo.test-helper.ts';
import { secondAnswer } from '../src/env/wrap/second-answer.ts';
import { type RunSettings, train } from '../src/exports/index.ts';
import { readEpisodeFile } from '../src/store/rollouts/read-episodes.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-responses-'));
afterAll(() => rmSync(runs, { recursive: true, force: true }));

/** Tasks that no observation tells: answers differ, and so does what follows them. */
const riddle = {
  ...echo,
  name: 'riddle',
  start: (word: string) => ({
    ...echo.start(word, undefined as never),
    messages: [{ role: 'user' as const, content: 'say' }],
  }),
};

const settings: RunSettings = {
  ...{ seed: 3, steps: 2, threads: 1 },
  model: { width: 16, layers: 1, heads: 2, hidden: 32 },
  clone: { demonstrations: 64, randomRate: 0.8, steps: 40, batch: 16 },
  evaluation: { every: 0, tasks: 2, finalTasks: 2 },
};

async function groupsOf(name: string, recipe: string, world: unknown, more: RunSettings): Promise<Group[]> {
  await train({
    world: world as never,
    recipe: recipe as never,
    name,
    runs,
    settings: { ...settings, ...more },
  });
  const folder = join(runs, name, 'rollouts');
  const shards = readdirSync(folder).filter((file) => /^\d+\.jsonl\.gz$/.test(file));
  expect(shards).toHaveLength(2);
  return shards.flatMap((file) => [...(readEpisodeFile(join(folder, file))?.groups ?? [])]);
}

const earned = ({ transitions }: Episode, role: string): number[] =>
  transitions.flatMap((own) => (own.role === role ? [own.rewards[role] ?? 0] : []));

test('waltzrl pays feedback .65 of the improvement where its label is right, and .1 for its form', async () => {
  const groups = await groupsOf('waltz', 'waltzrl', answerAndFeedback(riddle), {
    rollout: { tasks: 4, group: 4, choices: true },
    credit: { whiten: false, lambda: 0.25 },
  });
  let compared = 0;
  for (const episode of groups.flatMap(({ members }) => members)) {
    const told = episode.credit?.feedback?.advantages_K;
    if (!told) continue;
    const [before, after] = earned(episode, 'conversation');
    const { labelCorrect = false, wellFormed = true } =
      episode.transitions.find(({ role }) => role === 'feedback')!.facts ?? {};
    const improvement = labelCorrect ? (after ?? before!) - before! : 0;
    expect(told[0]).toBeCloseTo(0.65 * improvement + (labelCorrect ? 0.25 : 0) + (wellFormed ? 0.1 : 0), 6);
    compared++;
  }
  expect(compared).toBeGreaterThan(16);
});

test('cory pays both roles the sum of both answers, against the mean of the group', async () => {
  const groups = await groupsOf('cory', 'cory', secondAnswer(riddle), {
    rollout: { tasks: 4, group: 4, choices: true },
  });
  let compared = 0;
  for (const { members } of groups) {
    const sums = members.map(({ outcome }) => outcome.pioneer! + outcome.observer!);
    const mean = sums.reduce((sum, one) => sum + one, 0) / sums.length;
    for (const [index, { credit }] of members.entries())
      for (const role of ['pioneer', 'observer']) {
        if (credit?.[role]?.inLoss !== true) continue;
        expect(credit[role]!.advantages_K[0]).toBeCloseTo(sums[index]! - mean, 6);
        compared++;
      }
  }
  expect(compared).toBeGreaterThan(0);
});

test('malt labels a node by the mean of its leaves, of which there are 27', async () => {
  const groups = await groupsOf('malt', 'malt', deliberation(riddle), {
    rollout: { tasks: 2, group: 27, choices: true },
  });
  let positive = 0;
  for (const { members } of groups) {
    expect(members).toHaveLength(27);
    for (const { transitions, branchedFrom, outcome, credit } of members) {
      expect((branchedFrom?.transition ?? -1) + 1 + transitions.length).toBe(3);
      const { advantages_K } = credit!.agent!;
      // A leaf is worth what it earned: 1 or -1.
      expect(advantages_K.at(-1)).toBe(outcome.agent! > 0.5 ? 1 : 0);
      expect(advantages_K.every((label) => label === 0 || label === 1)).toBe(true);
      if (outcome.agent! > 0.5) positive++;
    }
  }
  expect(positive).toBeGreaterThan(0);
});
