import { expect, test } from 'vitest';
import type { Episode } from '../core/episode.ts';
import type { StopReason } from '../core/stop.ts';
import { madeCall, madeEpisode, madeGroup, madeTransition } from '../core/testing/made-episodes.ts';
import { type RoleGroup, roleGroups } from '../core/trajectory.ts';
import { creditTrajectory } from '../credit/contract/view.ts';
import { cory } from '../credit/methods/roles/cory.ts';
import { withAbsentRoles } from './absent-roles.ts';
import { curate } from './curate.ts';

/** An episode of two roles, with the turns and the outcome of each. */
const met = (
  member: number,
  roles: Readonly<Record<'first' | 'second', readonly [outcome: number, turns: number]>>,
  stop: StopReason = 'done',
): Episode => {
  const turns = Object.entries(roles).flatMap(([role, [outcome, count]]) =>
    Array.from({ length: count }, () => ({ role, outcome })),
  );
  return madeEpisode(
    member,
    turns.map(({ role }, id) => madeCall(id, 1, { role })),
    turns.map(({ role, outcome }, id) => madeTransition(id, outcome, { role })),
    { stop, outcome: { first: roles.first[0], second: roles.second[0] } },
  );
};

/** What a step learns from, without curations. */
const usable = async (...members: readonly Episode[]): Promise<readonly RoleGroup[]> => {
  const moment = { step: 1, round: 0, batch: 1, minimumMembers: 1, seed: 1, memory: {}, whole: true };
  const { learned } = await curate([madeGroup(...members)], new Map(), { ...moment, read: async () => [] });
  return learned;
};

test('cory adds up roles before those without a turn are left out: losing 2 while the other wins 2 is worth 0', async () => {
  const groups = await usable(
    met(0, { first: [-2, 1], second: [2, 0] }),
    met(1, { first: [1, 1], second: [-1, 1] }),
  );
  const inputs = groups
    .flatMap(({ members }) => members)
    .map((trajectory) => creditTrajectory(trajectory, 0.5));
  expect(inputs.map(({ id, absentOutcome }) => [id, absentOutcome])).toEqual([
    ['1/0/0/first', 1],
    ['1/0/1/first', undefined],
    ['1/0/1/second', undefined],
  ]);
  const { credits } = cory.create().credit(inputs, {});
  expect(credits.map(({ turnAdvantages_K }) => turnAdvantages_K)).toEqual([[0], [0], [0]]);
});

test('what failed adds nothing, and an environment with one role knows no absent ones', async () => {
  const failed = met(0, { first: [1, 1], second: [3, 1] }, 'failed:environment');
  const well = met(1, { first: [1, 1], second: [0, 1] });
  const [group] = await usable(failed, well);
  expect(group!.members[0]).not.toHaveProperty('absentOutcome');
  const alone = roleGroups([madeGroup(madeEpisode(0, [madeCall(0)], [madeTransition(0, 1)]))]);
  expect(withAbsentRoles(alone, alone)).toEqual(alone);
});
