import { expect, test } from 'vitest';
import { madeGroup, playedEpisode, trajectoryOf } from '../core/testing/made-episodes.ts';
import type { Trajectory } from '../core/trajectory.ts';
import { among, informative, mostVaried, roleOutcomes } from './informative.ts';
import { hasVoidTurn } from './void-turns.ts';

const group = (id: string, ...outcomes: number[]) => ({ id, outcomes });
const ids = (groups: readonly { readonly id: string }[]): string[] => groups.map(({ id }) => id);

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

test('outcomes are those of the episodes that are in, role by role, and the choice is theirs', () => {
  const members = [
    playedEpisode(0, [{}], { outcome: { first: 1, second: -1 } }),
    playedEpisode(1, [{}], { outcome: { first: 2, second: 0 } }),
  ];
  const outcomes = roleOutcomes(
    [madeGroup(...members)],
    (episode, role) => role === 'first' || episode === members[1],
  );
  expect(outcomes.map((own) => [own.role, own.outcomes])).toEqual([
    ['first', [1, 2]],
    ['second', [0]],
  ]);
  const choice = among(outcomes.slice(1));
  const isIn = members.map((episode) => ['first', 'second'].map((role) => choice(episode, role).inLoss));
  expect(isIn).toEqual([
    [false, false],
    [false, true],
  ]);
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
