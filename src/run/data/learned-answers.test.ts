/** Whose answers are learned, of whatever is recorded. */

import { describe, expect, test } from 'vitest';
import type { Episode } from '../../core/episode.ts';
import { madeCall, madeEpisode, madeTransition } from '../../core/testing/made-episodes.ts';
import type { World } from '../../env/world.ts';
import { isLearnersRole, isOwnRole, withLesson } from './learned-answers.ts';

const counter = { users: { customer: {} } } as unknown as Pick<World, 'users'>;
const players = { bob: 'learner', rival: 'past:2', dice: 'script:random', old: 'run@3' };

test.each([
  ['its own', {}, 'agent', true],
  ['that of a simulated user', {}, 'customer', false],
  ['given to a further learner', { customer: 'bob' }, 'customer', true],
  ['given to the learner by name', { customer: 'learner' }, 'customer', true],
  ['given to an earlier self', { agent: 'rival' }, 'agent', true],
  ['given to a script', { agent: 'dice' }, 'agent', false],
  ['given to another run', { agent: 'old' }, 'agent', false],
])('weights of this run play a role that is %s', (_, seats, role, isOwn) => {
  expect(isOwnRole(role, counter, { players, seats })).toBe(isOwn);
});

describe('a learner sat in a role of a stored episode', () => {
  const seatedAs = (player: string) => ({ agent: { player, version: 0 } });
  test.each([
    ['of that name', seatedAs('learner'), 'no-token-ids', true],
    ['whose tokens are trained', seatedAs('bob'), true, true],
    ['not where others wrote', seatedAs('dice'), 'scripted', false],
    ['where nothing else is said', {}, 'scripted', true],
  ] as const)('%s', (_, seats, trainable, isLearner) => {
    const episode = madeEpisode(0, [madeCall(0, 1, { trainable })], [], { seats });
    expect(isLearnersRole(episode, 'agent')).toBe(isLearner);
  });
});

describe('of an episode', () => {
  const asCustomer = { role: 'customer', conversation: 'customer' };
  const calls = [
    madeCall(0, 1, { ...asCustomer, trainable: 'other-model' }),
    madeCall(1, 1, { trainable: 'scripted' }),
    madeCall(2, 1, { trainable: 'left-out' }),
    madeCall(3, 1, { trainable: 'other-model', purpose: 'consult' }),
    madeCall(4, 1, { ...asCustomer }),
    madeCall(5, 1, { parent: 4, trainable: 'no-token-ids' }),
    madeCall(6, 1, { role: 'judge', trainable: 'other-model', purpose: 'judge' }),
  ];
  const episode: Episode = {
    ...madeEpisode(0, calls, [madeTransition(1), madeTransition(5)]),
    outcome: { agent: 1, customer: 0 },
  };
  const marksOf = ({ calls: all }: Episode) => all.map(({ id, trainable }) => [id, trainable]);

  test('answers in learned roles are learned, whoever wrote them; of others is left what these go on from', () => {
    const { episode: taught, others } = withLesson(episode, { roles: (_, role) => role === 'agent' });
    expect(marksOf(taught)).toEqual([
      [1, true],
      [2, 'left-out'],
      [3, 'other-model'],
      [4, 'other-model'],
      [5, true],
      [6, 'other-model'],
    ]);
    expect(others).toBe(2);
  });

  test('an answer that is not wanted stays to be read', () => {
    const { episode: taught } = withLesson(episode, { answers: ({ id }) => id !== 1 });
    expect(marksOf(taught).slice(0, 2)).toEqual([
      [0, true],
      [1, 'left-out'],
    ]);
  });
});
