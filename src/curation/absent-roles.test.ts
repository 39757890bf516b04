import { expect, test } from 'vitest';
import type { StopReason } from '../core/stop.ts';
import type { Group, Trajectory } from '../core/trajectory.ts';
import { cory } from '../credit/cory.ts';
import { candidatesOf, creditInput } from '../train/batch.ts';
import { withAbsentRoles } from './absent-roles.ts';
import { keepUsable } from './usable.ts';

const seat = (episode: string, role: string, outcome: number, turns = 1, stop: StopReason = 'done') =>
  ({
    id: `${episode}/${role}`,
    groupId: `0/${role}`,
    role,
    outcome,
    stop,
    turns: Array.from({ length: turns }, () => ({ reward: outcome, ids: [], messages: [], contextIds: [] })),
  }) as unknown as Trajectory;

const groupsOf = (...members: readonly Trajectory[]): Group[] =>
  ['first', 'second'].map((role) => ({
    id: `0/${role}`,
    task: null,
    members: members.filter((member) => member.role === role),
  }));

const usable = (groups: readonly Group[]) => withAbsentRoles(keepUsable(groups, 1).groups, groups);

test('cory adds up roles before those without a turn are left out: losing 2 while the other wins 2 is worth 0', () => {
  const groups = groupsOf(
    seat('0/0', 'first', -2),
    seat('0/0', 'second', 2, 0),
    seat('0/1', 'first', 1),
    seat('0/1', 'second', -1),
  );
  const inputs = candidatesOf(usable(groups).flatMap(({ members }) => members)).map((candidate) =>
    creditInput(candidate, 0.5),
  );
  expect(inputs.map(({ id, absentOutcome }) => [id, absentOutcome])).toEqual([
    ['0/0/first', 1],
    ['0/1/first', undefined],
    ['0/1/second', undefined],
  ]);
  const { credits } = cory.create().credit(inputs, {});
  expect(credits.map(({ turnAdvantages_K }) => turnAdvantages_K)).toEqual([[0], [0], [0]]);
});

test('what failed adds nothing, and an environment with one role knows no absent ones', () => {
  const failed = groupsOf(seat('0/0', 'first', 1), seat('0/0', 'second', 3, 1, 'failed:environment'));
  expect(usable(failed)[0]!.members[0]).not.toHaveProperty('absentOutcome');
  const alone = [{ id: '0', task: null, members: [{ ...seat('0', 'agent', 1), id: '0/0' }] }];
  expect(usable(alone)).toEqual(alone);
});
