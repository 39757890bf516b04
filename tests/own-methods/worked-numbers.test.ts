/** Sources of tasks, turn controls and curations of papers, written as a user writes them: worked numbers. */

import { describe, expect, test } from 'vitest';
import type { Episode, Group } from '../../src/core/episode.ts';
import type { Json } from '../../src/core/json/json.ts';
import type { Now } from '../../src/core/remembers.ts';
import { Rng } from '../../src/core/rng.ts';
import { madeCall, madeEpisode, madeKey, madeTransition } from '../../src/core/testing/made-episodes.ts';
import type { OpenCuration } from '../../src/curation/curation.ts';
import { overTurnMasking, roc, spear, successReplay } from './curations.ts';
import { dart, exit } from './tasks.ts';
import { attemptRewards, percentiles, scalingInter, twoAttempts, ufo } from './turns.ts';

const now = (memory: Json = null, step = 1): Now => ({ step, memory, rng: Rng.of('test', step) });
const view = { role: 'agent', task: null, calls: [], transitions: [], turn: 1, limit: 10 };

/** A group of episodes of one turn: what each earned, and more of each. */
const groupOf = (
  rewards: readonly number[],
  { group = 0, more = () => ({}) }: { group?: number; more?: (member: number) => Partial<Episode> } = {},
): Group => ({
  step: 1,
  group,
  members: rewards.map((reward, member) =>
    madeEpisode(
      member,
      [madeCall(0, 1, { logprobs: [-member] })],
      [madeTransition(0, reward, { valid: member % 3 > 0 })],
      { key: madeKey({ task: group, group, member }), ...more(member) },
    ),
  ),
});

describe('turn controls', () => {
  test('ScalingInter: the limit grows with the steps', () => {
    const control = scalingInter.create();
    const limits = [1, 99, 100, 200, 900].map((step) =>
      control.limit(null, { ...now(null, step), usual: 4 }),
    );
    expect(limits).toEqual([6, 6, 13, 20, 20]);
  });

  test('percentiles: of 1 to 100 turns three quarters take up to 76, and reminders count down', () => {
    const control = percentiles.create();
    const lengths: Group = {
      step: 1,
      group: 0,
      members: Array.from({ length: 100 }, (_, member) =>
        madeEpisode(
          member,
          [],
          Array.from({ length: member + 1 }, () => madeTransition(undefined)),
        ),
      ),
    };
    const seen = control.remember([lengths], now(control.start()));
    const limit = (memory: Json) => control.limit(null, { ...now(memory), usual: 4 });
    expect([limit(control.start()), limit(seen)]).toEqual([200, 76]);
    const decided = (turn: number) =>
      control.after?.({ ...view, turn, limit: 76 }, { ...now(seen), done: false, success: false });
    expect(decided(70)).toEqual({ say: { role: 'user', content: '6 turns left.' } });
    expect(decided(51)).toEqual({ say: { role: 'user', content: 'Extended: 25 turns left.' } });
    expect(decided(50)).toEqual({ say: { role: 'user', content: '1 turns left.' } });
  });

  test('UFO retries what failed, SCoRe once whatever it was worth', () => {
    const again = ufo.create({ attempts: 5 });
    const failed = { ...now(), done: true, success: false };
    expect(again.after?.(view, failed)).toEqual({ retry: { role: 'user', content: 'Wrong. Try again.' } });
    expect(again.after?.({ ...view, turn: 5 }, failed)).toBe('go on');
    expect(again.after?.(view, { ...failed, success: true })).toBe('go on');
    const twice = twoAttempts.create();
    const at = (attempt: number) => ({ ...view, transitions: [madeTransition(0, 1, { attempt })] });
    expect(twice.after?.(at(0), { ...failed, success: true })).toHaveProperty('retry');
    expect(twice.after?.(at(1), failed)).toBe('go on');
    const paid = ([first, second]: readonly [number, number]) =>
      attemptRewards(
        madeEpisode(0, [], [madeTransition(0, first), madeTransition(1, second, { attempt: 1 })]),
        10,
      )[1];
    expect(
      (
        [
          [0, 1],
          [1, 0],
          [1, 1],
          [0, 0],
        ] as const
      ).map(paid),
    ).toEqual([11, -10, 1, 0]);
  });
});

describe('sources of tasks', () => {
  const nobody = { roles: ['agent'], players: [] };
  const round = (memory: Json, wanted: number) => ({
    ...now(memory),
    ...{ round: 0, wanted, members: 4, groups: [], latest: [], ...nobody },
    tasks: { size: 9, fresh: (count: number) => Array.from({ length: count }, (_, index) => index) },
  });

  test('DART: at a success rate of .8 above a threshold of .6 half of the episodes, and the turns of successes', () => {
    const source = dart.create();
    const asked = source.next(round({ 0: { rate: 0.8, longest: 7 } }, 2));
    expect(asked.map(({ members, maxTurns }) => [members, maxTurns])).toEqual([
      [4, 7],
      [8, 50],
    ]);
    const after = source.remember([groupOf([1, 0, 0, 0])], {
      ...now({ 0: { rate: 0.5, longest: 0 } }),
      ...nobody,
    });
    expect(after).toEqual({ 0: { rate: 0.9 * 0.5 + 0.1 * 0.25, longest: 1 } });
  });

  test('EXIT: places are drawn by the variance of their groups', () => {
    const source = exit.create({ fresh: 0, diverge: 0 });
    const place = (member: number) => ({ episode: madeKey({ member }), transition: 0 });
    const pool = [
      { place: place(1), variance: 0 },
      { place: place(0), variance: 0.25 },
    ];
    expect(source.next(round({ pool }, 3)).map(({ task }) => task)).toEqual(
      Array.from({ length: 3 }, () => ({ place: place(0) })),
    );
    const long = (member: number, reward: number) =>
      madeEpisode(member, [], [madeTransition(undefined), madeTransition(undefined, reward)]);
    const group = { step: 1, group: 0, members: [long(0, 1), long(1, 0)] };
    expect(source.remember([group], { ...now({ pool: [] }), ...nobody })).toEqual({
      pool: [{ place: { episode: group.members[0]!.key, transition: 0 }, variance: 0.25 }],
    });
  });
});

describe('curations', () => {
  const choose = (curation: OpenCuration, groups: readonly Group[], memory: Json = null, step = 1) =>
    curation.choose(groups, { ...now(memory, step), round: 0, batch: groups.length, isIn: () => true });

  test('over-turn masking: in the baseline, not in the loss', () => {
    const group = groupOf([1, 0, 0, 0], { more: (member) => ({ stop: member > 1 ? 'turn-limit' : 'done' }) });
    const { choice } = choose(overTurnMasking.create(), [group]);
    expect(group.members.map((episode) => choice!(episode, 'agent'))).toMatchObject([
      { inBaseline: true, inLoss: true },
      { inBaseline: true, inLoss: true },
      { inBaseline: true, inLoss: false },
      { inBaseline: true, inLoss: false },
    ]);
  });

  test('GRPO-RoC: of 24 successes and 8 failures 12 and 4 are kept, the successes with the fewest errors', () => {
    const group = groupOf([...Array<number>(24).fill(1), ...Array<number>(8).fill(0)]);
    const { choice } = choose(roc.create({ keep: 16 }), [group]);
    const kept = group.members.filter((episode) => choice!(episode, 'agent').inLoss);
    expect([1, 0].map((reward) => kept.filter(({ outcome }) => outcome.agent === reward).length)).toEqual([
      12, 4,
    ]);
    const good = kept.filter(({ outcome }) => outcome.agent === 1);
    expect(good.every(({ transitions }) => transitions[0]!.valid)).toBe(true);
  });

  test('DART: a stored success joins the failed group of its task, and sure turns are not learned from', () => {
    const curation = successReplay.create({ keep: 0.5 });
    const memory = curation.remember([groupOf([1, 0], { group: 3 })], now({}));
    const failed = groupOf([0, 0, 0], { group: 3 });
    const { insert, choice } = choose(curation, [groupOf([1, 0]), failed], memory);
    expect(insert).toEqual([{ group: 1, episode: madeKey({ task: 3, group: 3 }) }]);
    expect(choice!(failed.members[0]!, 'agent').inLoss).toBe(false);
    // Surprises of 0, 1 and 2: the lower half is cut off.
    expect(failed.members.slice(1).map((episode) => choice!(episode, 'agent').weights_K)).toEqual([[1], [1]]);
    expect(choice!(groupOf([0], { group: 3 }).members[0]!, 'agent').weights_K).toEqual([1]);
  });

  test('SPEAR: above the median of the means, and recent', () => {
    const buffer = [1, 0.3, 0.8].map((reward) => ({ episode: madeKey({ step: 1 }), reward }));
    const memory = { means: [0.1, 0.2, 0.4, 0.5, 0.9], buffer };
    const curation = spear.create({ size: 1 });
    expect(choose(curation, [], memory, 3).insert).toHaveLength(2);
    expect(choose(curation, [], memory, 9).insert).toHaveLength(0);
  });
});
