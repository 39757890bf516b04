/** Sources of tasks, turn controls and curations of papers, written as a user writes them: short runs. */

import { afterAll, describe, expect, test } from 'vitest';
import type { Episode, EpisodeKey } from '../../src/core/episode.ts';
import { keyText } from '../../src/core/episode-key.ts';
import { defineCuration } from '../../src/exports/index.ts';
import { overTurnMasking, roc, spear, successReplay } from './curations.ts';
import { episodesOf, expectSameCredit, ran, removeRuns } from './short-runs.test-helper.ts';
import { dart, exit } from './tasks.ts';
import { percentiles, scalingInter, twoAttempts, ufo } from './turns.ts';

afterAll(removeRuns);

type Best = { readonly best: EpisodeKey | null };

/** The last episode of the step before joins the first group, at half its weight. */
const rejoin = defineCuration({
  name: 'rejoin',
  weighs: true,
  start: (): Best => ({ best: null }),
  choose: (_groups, { memory: { best }, step }) => ({
    insert: best ? [{ group: 0, episode: best }] : [],
    choice: ({ key }) => ({ inBaseline: true, inLoss: true, weight: key.step === step ? 1 : 0.5 }),
  }),
  remember: (groups, { step }) => ({
    best: groups.flatMap(({ members }) => members).findLast(({ key }) => key.step === step)?.key ?? null,
  }),
});

describe('runs', () => {
  test.each(['grpo', 'tree-grpo'])(
    'an earlier episode is a line of the group that it joins: %s',
    async (recipe) => {
      const name = `joined-${recipe}`;
      const { steps } = await ran(name, { curation: new Map([[rejoin, {}]]) }, recipe);
      await expectSameCredit(name);
      let branches = 0;
      for (const [index, [first, ...others]] of steps.entries()) {
        const step = index + 1;
        const joined = first!.members.filter(({ key }) => key.step !== step);
        expect(others.flatMap(({ members }) => members).every(({ key }) => key.step === step)).toBe(true);
        expect(joined.filter(({ credit }) => credit)).toHaveLength(index === 0 ? 0 : 1);
        for (const { key, credit, branchedFrom } of joined) {
          expect(key.step).toBe(step - 1);
          if (credit) expect(credit.agent).toMatchObject({ trainedIn: step, weight: 0.5 });
          if (!branchedFrom) continue;
          branches++;
          expect(joined.map((own) => keyText(own.key))).toContain(keyText(branchedFrom.episode));
        }
      }
      if (recipe === 'tree-grpo') expect(branches).toBeGreaterThan(0);
    },
  );

  test('turns: limits, retries and what was said are in the record', async () => {
    const limited = await ran('limited', { turns: { name: scalingInter, rounds: [2, 3], every: 2 } });
    const longest = limited.steps.map((groups) =>
      Math.max(...groups.flatMap(({ members }) => members.map(({ transitions }) => transitions.length))),
    );
    expect(longest).toEqual([2, 3, 3, 3]);

    const retried = episodesOf(await ran('retried', { turns: { name: ufo, attempts: 8 } }));
    const attempts = retried.flatMap(({ transitions }) => transitions.map(({ attempt = 0 }) => attempt));
    expect(Math.max(...attempts)).toBeGreaterThan(0);
    for (const { calls, transitions } of retried) {
      for (const [index, { attempt = 0, call }] of transitions.entries()) {
        const before = transitions[index - 1]?.attempt ?? 0;
        if (index === 0 || attempt === before) continue;
        expect(attempt).toBe(before + 1);
        expect(calls[call!]!.messages[0]!.content).toBe('Wrong. Try again.');
      }
    }
    await expectSameCredit('retried');

    const told = await ran('told', { turns: { name: percentiles, free: 24 } });
    expect(told.memory.turns).toMatchObject({ turns: expect.any(Array) });
    const said = episodesOf(told).flatMap(({ calls }) => calls.flatMap(({ messages }) => messages));
    expect(said.filter(({ content }) => /turns left\.$/.test(content)).length).toBeGreaterThan(0);
  });

  test('turns: every task is attempted twice, and what was said lies between', async () => {
    const settings = { turns: { name: twoAttempts }, rollout: { tasks: 4, group: 6, maxTurns: 12 } };
    const episodes = episodesOf(await ran('twice', settings));
    const twice = episodes.filter(({ transitions }) => transitions.some(({ attempt }) => attempt === 1));
    expect(twice.length).toBeGreaterThan(episodes.length / 2);
    for (const { calls, transitions } of twice) {
      const second = transitions.findIndex(({ attempt }) => attempt === 1);
      expect(transitions.slice(second).every(({ attempt }) => attempt === 1)).toBe(true);
      expect(calls[transitions[second]!.call!]!.messages[0]!.content).toBe('Correct your answer.');
    }
    await expectSameCredit('twice');
  });

  test('tasks: groups of their own sizes and limits', async () => {
    const { steps, memory } = await ran('dart', { tasks: { name: dart, most: 5, cap: 3 } });
    expect(steps.flat().every(({ members }) => members.length <= 5)).toBe(true);
    expect(Object.keys(memory.tasks as object).length).toBeGreaterThan(0);
    await expectSameCredit('dart');
  });

  test('tasks: a start at a place copies what was done up to there, and trains on none of it', async () => {
    const run = await ran('places', { tasks: { name: exit, fresh: 0.2, diverge: 0.5 } });
    const all = new Map(episodesOf(run).map((episode) => [keyText(episode.key), episode]));
    const started = episodesOf(run).filter(({ startedAt }) => startedAt);
    expect(started.length).toBeGreaterThan(0);
    for (const { startedAt, calls, transitions, key } of started) {
      const { episode, transition } = startedAt!.at(-1)!;
      const origin = all.get(keyText(episode))!;
      expect(episode.step).toBeLessThan(key.step);
      const actions = (of: Episode['transitions']) =>
        of.slice(0, transition + 1).map((own) => [own.anchor, own.action]);
      expect(actions(transitions)).toEqual(actions(origin.transitions));
      const copied = calls.slice(0, transition + 1);
      expect(copied.map(({ trainable }) => trainable)).toEqual(copied.map(() => 'earlier'));
      expect(copied.map(({ ids, context }) => [ids, context])).toEqual(
        origin.calls.slice(0, transition + 1).map(({ ids, context }) => [ids, context]),
      );
      expect(calls.slice(transition + 1).every(({ trainable }) => trainable === true)).toBe(true);
    }
    const instructed = started.filter(({ startedAt, calls }) =>
      calls[startedAt!.at(-1)!.transition + 1]?.messages.some(
        ({ content }) => content === 'try something different',
      ),
    );
    expect(instructed.length).toBeGreaterThan(0);
    expect(instructed.length).toBeLessThan(started.length);
    await expectSameCredit('places');
  });

  test.each([
    ['over-turn-masking', new Map([[overTurnMasking, {}]])],
    ['roc', new Map([[roc, { keep: 4 }]])],
    ['success-replay', new Map([[successReplay, { keep: 0.6 }]])],
    ['spear', new Map([[spear, { size: 0 }]])],
    [
      'two, one after another',
      new Map<typeof roc | string, object>([
        [roc, { keep: 4 }],
        ['varied', { share: 0.5 }],
      ]),
    ],
  ] as const)('curations: %s; the stored file gives the advantages of the run', async (name, curation) => {
    const short = name.replaceAll(/[^a-z]/g, '-');
    // Epochs of two tasks, so that a task comes again and its successes can join.
    const run = await ran(short, {
      curation,
      rollout: { tasks: 2, group: 6, minimumMembers: 1, maxTurns: 3 },
    });
    await expectSameCredit(short);
    const inserted = run.steps.flatMap((groups, index) =>
      groups.flatMap(({ members }) => members.filter(({ key }) => key.step !== index + 1)),
    );
    const credits = episodesOf(run).flatMap(({ credit }) => credit?.agent ?? []);
    if (name === 'spear') expect(inserted.length).toBeGreaterThan(0);
    if (name === 'over-turn-masking') expect(credits.some(({ inLoss }) => !inLoss)).toBe(true);
    if (name === 'success-replay')
      expect(credits.some(({ weights_K = [] }) => weights_K.includes(0))).toBe(true);
    if (name === 'roc') {
      const left = episodesOf(run).filter(({ credit }) => !credit);
      expect(left.length).toBeGreaterThan(0);
    }
    for (const { credit, key } of inserted)
      if (credit) expect(credit.agent!.trainedIn).toBeGreaterThan(key.step);
  });
});
