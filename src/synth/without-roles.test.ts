/** What is left of an episode whose other roles are not shown. */

import { expect, test } from 'vitest';
import { madeCall, madeEpisode, madeTransition } from '../core/testing/made-episodes.ts';
import { withoutCallsOf } from './without-roles.ts';

const asUser = { role: 'user', trainable: 'other-model' } as const;
const isUser = (role: string): boolean => role === 'user';

test('calls of the role go, and what it did stays with what it paid to others', () => {
  const calls = [madeCall(0), madeCall(1, 1, asUser)];
  const ended = madeTransition(1, 0, { role: 'user', rewards: { agent: 1 } });
  const left = withoutCallsOf(madeEpisode(0, calls, [madeTransition(0), ended]), isUser);
  expect(left.calls).toEqual([calls[0]]);
  const { call: _, ...unsaid } = ended;
  expect(left.transitions).toEqual([madeTransition(0), unsaid]);
});

test('what others go on from stays', () => {
  const calls = [
    madeCall(0, 1, asUser),
    madeCall(1, 1, asUser),
    madeCall(2, 1, asUser),
    madeCall(3, 1, { parent: 1 }),
    madeCall(4, 1, { parts: [{ shown: 0 }] }),
    madeCall(5, 1, asUser),
  ];
  const left = withoutCallsOf(madeEpisode(0, calls, []), isUser);
  expect(left.calls.map(({ id }) => id)).toEqual([0, 1, 3, 4]);
});

test('an episode without that role is the same one', () => {
  const episode = madeEpisode(0, [madeCall(0)], [madeTransition(0)]);
  expect(withoutCallsOf(episode, isUser)).toBe(episode);
});
