import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Episode } from '../core/episode.ts';
import { isTrainable, type StopReason } from '../core/stop.ts';
import { madeGroup, playedEpisode } from '../core/testing/made-episodes.ts';
import { chainOf, type RoleGroup, roleGroups } from '../core/trajectory.ts';
import { constantShare, keepUsable, usableGroups } from './usable.ts';

const episode = (stop: StopReason, reward = 0, turns = 1): Episode =>
  playedEpisode(
    0,
    Array.from({ length: turns }, () => ({ reward })),
    { stop },
  );
const group = (...members: readonly Episode[]): RoleGroup =>
  roleGroups([madeGroup(...members.map((own, member) => ({ ...own, key: { ...own.key, member } })))])[0] ?? {
    id: '1/0',
    role: 'agent',
    group: madeGroup(),
    members: [],
  };

const BAD: readonly StopReason[] = [
  'timeout',
  'cancelled',
  'failed:environment',
  'failed:policy',
  'failed:tool',
];
const GOOD: readonly StopReason[] = ['done', 'turn-limit', 'context-overflow', 'invalid-action'];

describe('what failed is never learned from', () => {
  test('whatever the order, and whatever it earned', () => {
    const stops = fc.array(fc.array(fc.constantFrom(...BAD, ...GOOD), { minLength: 1, maxLength: 6 }));
    fc.assert(
      fc.property(stops, fc.integer({ min: 1, max: 4 }), (groups, minimum) => {
        const all = groups.map((members) => group(...members.map((stop) => episode(stop, 100))));
        const { groups: kept, failedEpisodes, droppedGroups } = keepUsable(all, minimum);
        const stopsKept = kept.flatMap(({ members }) => members.map(({ stop }) => stop));
        expect(stopsKept.every(isTrainable)).toBe(true);
        expect(failedEpisodes).toBe(groups.flat().filter((stop) => BAD.includes(stop)).length);
        expect(kept.length + droppedGroups).toBe(groups.length);
        expect(kept.every(({ members }) => members.length >= minimum)).toBe(true);
      }),
    );
  });

  test('nor an episode in which the agent never acted', () => {
    const { groups } = keepUsable([group(episode('done'), episode('context-overflow', 0, 0))], 1);
    expect(groups[0]!.members).toHaveLength(1);
  });

  test('a group that failures left too small is dropped as a whole', () => {
    const small = group(episode('done', 1), episode('timeout', 0));
    expect(keepUsable([small], 2)).toEqual({ groups: [], failedEpisodes: 1, droppedGroups: 1 });
    expect(keepUsable([small], 1).groups).toHaveLength(1);
  });
});

test('what branched from a failed episode stays, with what they share, and without that episode', () => {
  const turns = [{ reward: 0 }, { reward: 0 }, { reward: 0 }];
  const failed = playedEpisode(0, turns, { stop: 'failed:environment' });
  const branchedFrom = { episode: failed.key, transition: 0, calls: 1 };
  const { calls, transitions, ...own } = playedEpisode(1, turns);
  const branch: Episode = { ...own, calls: calls.slice(1), transitions: transitions.slice(1), branchedFrom };
  const later: Episode = {
    ...playedEpisode(2, []),
    ...{ calls: calls.slice(2), transitions: transitions.slice(2) },
    branchedFrom: { episode: branch.key, transition: 1, calls: 2 },
  };
  const all = madeGroup(failed, branch, later);
  const [given] = usableGroups([all]);
  expect(given!.members.map(({ key }) => key.member)).toEqual([1, 2]);
  const [whole, from] = given!.members;
  expect([whole!.calls.map(({ id }) => id), whole!.transitions.length]).toEqual([[0, 1, 2], 3]);
  expect(whole).not.toHaveProperty('branchedFrom');
  expect(from).toBe(later);
  expect(chainOf(given!, from!)).toEqual(chainOf(all, later));
  // Nothing changes where nothing failed.
  const sound = madeGroup({ ...failed, stop: 'done' }, branch);
  expect(usableGroups([sound])[0]!.members).toEqual(sound.members);
  expect(usableGroups([madeGroup(failed)])).toEqual([]);
});

test('groups whose members all earned the same are counted', () => {
  const same = group(episode('done', 1), episode('done', 1));
  const different = group(episode('done', 1), episode('done', 0));
  expect(constantShare([same, different, different, same, same])).toBe(0.6);
  expect([constantShare([]), constantShare([group(episode('done', 1))])]).toEqual([undefined, undefined]);
  expect(constantShare([group(episode('done', 1)), same, different])).toBe(0.5);
});
