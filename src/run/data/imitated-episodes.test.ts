/** Who is imitated: roles that succeeded, not episodes in which somebody did. */

import { describe, expect, test } from 'vitest';
import type { Episode, Group } from '../../core/episode.ts';
import { madeCall, madeEpisode, madeGroup, madeTransition } from '../../core/testing/made-episodes.ts';
import { type TrainConfig, trainConfigSchema } from '../../train/config/config.ts';
import { imitatedOf, unimitatedRoles, warmStartOf } from './imitated-episodes.ts';
import { keptOf } from './recorded-episodes.ts';

/** A game of two, of which these won. */
function game(member: number, ...winners: readonly string[]): Episode {
  const calls = ['first', 'second'].map((role, id) => madeCall(id, 1, { role }));
  const transitions = ['first', 'second'].map((role, id) => madeTransition(id, 0, { role }));
  const success = { first: winners.includes('first'), second: winners.includes('second') };
  return { ...madeEpisode(member, calls, transitions), success };
}

const configOf = (from: TrainConfig['clone']['from']) => trainConfigSchema.parse({ clone: { from } });
const successful = configOf('successful');
/** Member and role of each trajectory that is learned. */
const learned = (groups: readonly Group[]) =>
  keptOf(groups).map(({ episode, role }) => `${episode.member} ${role}`);

describe('where one wins what the other loses', () => {
  const games = [madeGroup(game(0, 'first'), game(1, 'second'), game(2))];

  test('winners are imitated; losers, and both sides of a draw, are not', () => {
    expect(learned(imitatedOf(games, successful, 'games'))).toEqual(['0 first', '1 second']);
  });

  test('all are where that is asked for', () => {
    expect(learned(imitatedOf(games, configOf('all'), 'games'))).toHaveLength(6);
  });

  test('what is not imitated is shown, and what it follows stays', () => {
    const [first] = imitatedOf(games, successful, 'games')[0]!.members;
    expect(first!.calls.map(({ trainable }) => trainable)).toEqual([true, 'left-out']);
  });
});

test('roles that win together are imitated together, as they are', () => {
  const won = game(0, 'first', 'second');
  expect(imitatedOf([madeGroup(won, game(1))], successful, 'games')[0]!.members).toEqual([won]);
});

test('where nobody succeeded there is nothing to imitate', () => {
  expect(() => imitatedOf([madeGroup(game(0), game(1))], successful, 'games')).toThrow(
    'No episode of games succeeded, and only those that did are imitated. Seen: 2 episodes without success.',
  );
});

describe('a role in which nobody succeeded', () => {
  const games = [madeGroup(game(0, 'first'), game(1, 'first'))];

  test('is named', () => {
    expect(unimitatedRoles(games, imitatedOf(games, successful, 'games'))).toEqual(['second']);
    expect(unimitatedRoles(games, games)).toEqual([]);
  });

  test('is imitated before everything is learned from: it shows how a turn is written', () => {
    expect(learned(warmStartOf(games, successful))).toEqual(['0 first', '1 first', '0 second', '1 second']);
    expect(learned(warmStartOf([madeGroup(game(0), game(1))], successful))).toHaveLength(4);
  });
});
