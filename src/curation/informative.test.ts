import { expect, test } from 'vitest';
import { madeGroup, playedEpisode, trajectoryOf } from '../core/testing/made-episodes.ts';
import { type RoleGroup, roleGroups, type Trajectory } from '../core/trajectory.ts';
import { informative, mostVaried } from './informative.ts';
import { hasVoidTurn } from './void-turns.ts';

const group = (id: string, ...outcomes: number[]): RoleGroup => {
  const episodes = outcomes.map((reward, member) => playedEpisode(member, [{ reward }]));
  return { ...roleGroups([madeGroup(...episodes)])[0]!, id };
};
const ids = (groups: readonly RoleGroup[]): string[] => groups.map(({ id }) => id);

test('unanimous groups, single episodes and rounding are no difference', () => {
  const groups = [
    group('a', 1, 1),
    group('b', 0, 1),
    group('c', 1),
    group('d', 0.5, 0.5001),
    group('e', 2, 0),
  ];
  expect(ids(informative(groups))).toEqual(['b', 'e']);
});

test('the groups that vary most are kept in their order, and never none', () => {
  const groups = [group('a', 0, 1), group('b', 0, 4), group('c', 1, 1), group('d', 0, 2)];
  expect(ids(mostVaried(groups, 0.5))).toEqual(['b', 'd']);
  expect(ids(mostVaried(groups, 0.01))).toEqual(['b']);
  expect(ids(mostVaried(groups, 1))).toEqual(['a', 'b', 'c', 'd']);
});

test('a turn without a usable action is void where the policy wrote it', () => {
  const turns = (...list: [trained: boolean, valid: boolean][]): Trajectory =>
    trajectoryOf(
      playedEpisode(
        0,
        list.map(([trained, valid]) => ({
          call: { trainable: trained || 'scripted' },
          transition: { valid },
        })),
      ),
    );
  expect(hasVoidTurn(turns([true, true], [true, false]))).toBe(true);
  expect(hasVoidTurn(turns([true, true], [false, false]))).toBe(false);
});
