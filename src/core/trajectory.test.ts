import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { creditView } from '../credit/contract/view.ts';
import type { Episode, Group, Place, Role } from './episode.ts';
import { keyText } from './episode-key.ts';
import { samplesOf } from './sample.ts';
import {
  byPolicy,
  madeCall,
  madeEpisode,
  madeGroup,
  madeKey,
  madeTransition,
  playedEpisode,
  trajectoriesOf,
  trajectoryOf,
} from './testing/made-episodes.ts';
import { ROLES, randomGroup } from './testing/random-episodes.ts';
import { actOf, chainOf, roleGroups, sampledTokens, type Trajectory } from './trajectory.ts';

/** The ids of each turn's calls. */
const callsOf = ({ turns }: Trajectory): number[][] => turns.map(({ calls }) => calls.map(({ id }) => id));
const rewardsOf = ({ turns }: { readonly turns: readonly { readonly reward: number }[] }): number[] =>
  turns.map(({ reward }) => reward);
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** What samples and credit say of the same episodes: tokens of each turn, and what the turns earned. */
function expectOneStory(group: Group, players: Readonly<Record<string, readonly Role[]>>): void {
  for (const [player, roles] of Object.entries(players)) {
    const samples = samplesOf(group, player);
    for (const role of roles) {
      for (const { episode: key, turns, outcome } of creditView(group, role)) {
        const own = samples.filter((sample) => keyText(sample.episode) === key && sample.role === role);
        const counted = turns.map((_, k) =>
          sum(own.map(({ turn_T }) => turn_T.filter((turn) => turn === k).length)),
        );
        expect(counted).toEqual(turns.map(({ tokens }) => tokens));
        expect(sum(rewardsOf({ turns }))).toBeCloseTo(outcome, 10);
      }
    }
  }
}

const agents = { learner: ['agent'] };

test('parallel sub-agents: a transition names its call, whoever began or ended first', () => {
  // Two of them under call 0; b ends first; then the main agent goes on.
  const group = madeGroup(
    madeEpisode(
      0,
      [
        madeCall(0, 2),
        madeCall(1, 3, { conversation: 'a', under: 0 }),
        madeCall(2, 4, { conversation: 'b', under: 0 }),
        madeCall(3, 5, { conversation: 'a', parent: 1 }),
        madeCall(4, 1, { parent: 0 }),
      ],
      [0, 2, 1, 3, 4].map((call) => madeTransition(call, call === 4 ? 1 : 0)),
    ),
  );
  expect(callsOf(trajectoriesOf(group)[0]!)).toEqual([[0], [2], [1], [3], [4]]);
  expect(samplesOf(group, 'learner')).toHaveLength(3);
  expect(creditView(group, 'agent')[0]).toMatchObject({
    id: '1/0/0',
    groupId: '1/0',
    episode: '1/0/0',
    outcome: 1,
    turns: [{ tokens: 2 }, { tokens: 4 }, { tokens: 3 }, { tokens: 5 }, { tokens: 1, reward: 1 }],
  });
  expectOneStory(group, agents);
});

describe('calls that no transition names', () => {
  test('join the next named call, as a summary that was asked for joins the act after it', () => {
    const group = madeGroup(
      madeEpisode(
        0,
        [
          madeCall(0, 2),
          madeCall(1, 2, { parent: 0 }),
          madeCall(2, 3, { parent: 1, purpose: 'summarize' }),
          madeCall(3, 2, { parent: 1, kept: 1, newPath: 'window' }),
        ],
        [madeTransition(0), madeTransition(1), madeTransition(3, 1)],
      ),
    );
    const [trajectory] = trajectoriesOf(group);
    expect(callsOf(trajectory!)).toEqual([[0], [1], [2, 3]]);
    expect(trajectory!.turns.map((turn) => actOf(turn)?.id)).toEqual([0, 1, 3]);
    expect(trajectory!.turns.map(sampledTokens)).toEqual([2, 2, 5]);
    expect(samplesOf(group, 'learner').map(({ mask_T }) => sum([...mask_T]))).toEqual([7, 2]);
    expectOneStory(group, agents);
  });

  test('of their conversation where it has one, else of the role, else the last turn', () => {
    const inB = { conversation: 'b' };
    const episode = madeEpisode(
      0,
      [
        madeCall(0, 1, inB),
        madeCall(1),
        madeCall(2, 1, { conversation: 'c' }),
        madeCall(3),
        madeCall(4, 1, inB),
        madeCall(5),
      ],
      [madeTransition(1), madeTransition(3), madeTransition(4)],
    );
    // 0 waits for 4, which is of its conversation; 2 has nobody in its own and joins 3; nothing comes after 5.
    expect(callsOf(trajectoryOf(episode))).toEqual([[1], [2, 3], [0, 4, 5]]);
  });

  test('of another role’s calls none is joined, and tokens that nobody trains are not counted', () => {
    const episode = madeEpisode(
      0,
      [madeCall(0), madeCall(1, 2, { role: 'judge' }), madeCall(2, 3, { trainable: 'scripted', parent: 0 })],
      [madeTransition(0), madeTransition(2)],
    );
    const { turns } = trajectoryOf(episode);
    expect(turns.map(({ calls }) => calls.map(({ id }) => id))).toEqual([[0], [2]]);
    expect(turns.map(sampledTokens)).toEqual([1, 0]);
  });
});

describe('rewards', () => {
  test('in another’s transition go to the turn before it; two learners have samples and turns of their own', () => {
    const white = { role: 'w', by: byPolicy('white') };
    const black = { role: 'b', by: byPolicy('black') };
    const game = madeGroup(
      madeEpisode(
        0,
        [
          madeCall(0, 2, white),
          madeCall(1, 3, black),
          madeCall(2, 1, { ...white, parent: 0 }),
          madeCall(3, 2, { ...black, parent: 1 }),
        ],
        [
          madeTransition(0, 0, { role: 'w' }),
          madeTransition(1, 0, { role: 'b' }),
          madeTransition(2, 0, { role: 'w' }),
          madeTransition(3, 1, { role: 'b', rewards: { w: -1, b: 1 } }),
        ],
      ),
    );
    expect(rewardsOf(creditView(game, 'w')[0]!)).toEqual([0, -1]);
    expect(rewardsOf(creditView(game, 'b')[0]!)).toEqual([0, 1]);
    expect(creditView(game, 'w')[0]).toMatchObject({ id: '1/0/0/w', groupId: '1/0', episode: '1/0/0' });
    expect(roleGroups([game]).map(({ id, role }) => [id, role])).toEqual([
      ['1/0/w', 'w'],
      ['1/0/b', 'b'],
    ]);
    expectOneStory(game, { white: ['w'], black: ['b'] });
  });

  test('before the first turn of a role go to its first; of nobody’s transition to the turn before it', () => {
    const episode = madeEpisode(
      0,
      [madeCall(0, 1, { role: 'b' }), madeCall(1)],
      [
        madeTransition(0, 0, { role: 'b', rewards: { agent: 2 } }),
        madeTransition(1, 1),
        madeTransition(undefined, 0, { role: 'world', rewards: { agent: 4 } }),
      ],
    );
    expect(rewardsOf(trajectoryOf(episode))).toEqual([7]);
  });

  test('of judges go to the last turn; a judge that is trained has one turn, one that is not has none', () => {
    const model = { kind: 'model', name: 'judge@host', version: 0 } as const;
    const group = madeGroup(
      madeEpisode(
        0,
        [
          madeCall(0, 2),
          madeCall(1, 3, { role: 'judge', purpose: 'judge', by: model, trainable: 'other-model' }),
          madeCall(2, 4, { role: 'critic', purpose: 'judge' }),
        ],
        [madeTransition(0)],
        { scores: [{ by: 'judge', rewards: { agent: 0.5, critic: 1 } }] },
      ),
    );
    expect(rewardsOf(creditView(group, 'agent')[0]!)).toEqual([0.5]);
    const [critic] = trajectoriesOf(group, 'critic');
    expect(critic!.turns).toMatchObject([{ transition: undefined, reward: 1, calls: [{ id: 2 }] }]);
    expect(creditView(group, 'critic')[0]!.turns).toEqual([
      { reward: 1, tokens: 4, anchor: '', valid: true },
    ]);
    expect(creditView(group, 'judge')).toEqual([]);
    expectOneStory(group, { learner: ['agent', 'critic'] });
  });
});

describe('branches', () => {
  const from = (member: number, transition: number, calls: number): Place & { calls: number } => ({
    episode: madeKey({ member }),
    transition,
    calls,
  });
  const root = playedEpisode(0, [{ written: 2 }, { written: 3, reward: 1 }]);
  const first = madeEpisode(
    1,
    [madeCall(1, 4, { parent: 0 }), madeCall(2, 1, { parent: 1 })],
    [madeTransition(1), madeTransition(2)],
    { branchedFrom: from(0, 0, 1) },
  );
  const second = madeEpisode(2, [madeCall(2, 2, { parent: 1 })], [madeTransition(2, 1)], {
    branchedFrom: from(1, 1, 2),
  });
  const tree = madeGroup(root, first, second);

  test('have the turns of their prefix, be it a branch’s, and say how many', () => {
    expect(
      creditView(tree, 'agent').map(({ turns, parent, sharedTurns }) => [turns.length, parent, sharedTurns]),
    ).toEqual([
      [2, undefined, undefined],
      [3, '1/0/0', 1],
      [3, '1/0/1', 2],
    ]);
    const [one, two, three] = trajectoriesOf(tree);
    expect(two!.turns[0]).toEqual(one!.turns[0]);
    expect(three!.turns.slice(0, 2)).toEqual(two!.turns.slice(0, 2));
    expect(three!.calls.map(({ id, ids }) => [id, ids.length])).toEqual([
      [0, 2],
      [1, 4],
      [2, 2],
    ]);
    expectOneStory(tree, agents);
  });

  test('need the episode that they branched from', () => {
    expect(() => roleGroups([madeGroup(first)])).toThrow(
      'Episode 1/0/1 branched from 1/0/0, which is not in its group',
    );
  });

  test('of one role among several count the turns of that role', () => {
    const game = madeEpisode(
      0,
      [
        madeCall(0, 1, { role: 'w' }),
        madeCall(1, 1, { role: 'b' }),
        madeCall(2, 1, { role: 'w', parent: 0 }),
      ],
      [0, 1, 2].map((call) => madeTransition(call, 0, { role: call === 1 ? 'b' : 'w' })),
    );
    const branch = madeEpisode(
      1,
      [madeCall(2, 2, { role: 'w', parent: 0 })],
      [madeTransition(2, 1, { role: 'w' })],
      {
        branchedFrom: from(0, 1, 2),
        outcome: { w: 1, b: 0 },
      },
    );
    const group = madeGroup(game, branch);
    expect(creditView(group, 'w')[1]).toMatchObject({ parent: '1/0/0/w', sharedTurns: 1 });
    expect(creditView(group, 'b')[1]).toMatchObject({ parent: '1/0/0/b', sharedTurns: 1, turns: [{}] });
  });
});

test('an inserted episode keeps its key and joins the group; of a start at an earlier place nothing is trained', () => {
  const inserted = playedEpisode(0, [{ written: 2, reward: 1 }], {
    key: madeKey({ step: 0, group: 9, member: 3 }),
  });
  const later = playedEpisode(2, [
    { written: 2, call: { trainable: 'earlier' } },
    { written: 3, reward: 1 },
  ]);
  const group = madeGroup(playedEpisode(0, [{ written: 3 }]), inserted, later);
  const view = creditView(group, 'agent');
  expect(view.map(({ id, groupId }) => [id, groupId])).toEqual([
    ['1/0/0', '1/0'],
    ['0/9/3', '1/0'],
    ['1/0/2', '1/0'],
  ]);
  expect(view[2]!.turns.map(({ tokens }) => tokens)).toEqual([0, 3]);
  expectOneStory(group, agents);
});

test('a role that only some members have is a group of all of them', () => {
  const alone = playedEpisode(0, [{}]);
  const judged = madeEpisode(1, [madeCall(0), madeCall(1, 2, { role: 'critic' })], [madeTransition(0)]);
  const groups = roleGroups([madeGroup(alone, judged)]);
  expect(groups.map(({ role }) => role)).toEqual(['agent', 'critic']);
  expect(groups[1]!.members.map(({ turns }) => turns.length)).toEqual([0, 1]);
});

test('keys are texts for people: only held-out splits are named', () => {
  expect(keyText(madeKey({ step: 12, group: 3, member: 1 }))).toBe('12/3/1');
  expect(keyText(madeKey({ step: 12, split: 'test' }))).toBe('test/12/0/0');
});

const random = fc
  .record({ seed: fc.nat(), members: fc.integer({ min: 1, max: 5 }) })
  .map(({ seed, members }) => randomGroup(seed, members).group);

describe('property: over random calls', () => {
  test('samples and credit count the same tokens, and turns earn the outcome', () => {
    fc.assert(
      fc.property(random, (group) => expectOneStory(group, { learner: ROLES })),
      { numRuns: 300 },
    );
  });

  test('every call of a role is in one of its turns, in order, and every transition is a turn', () => {
    fc.assert(
      fc.property(random, (group) => {
        for (const { members, role } of roleGroups([group])) {
          for (const { turns, episode } of members) {
            const { calls, transitions } = chainOf(group, episode);
            if (turns.length === 0) continue;
            const ids = turns.map((turn) => turn.calls.map(({ id }) => id));
            for (const own of ids) expect([...own].sort((a, b) => a - b)).toEqual(own);
            expect(ids.flat().sort((a, b) => a - b)).toEqual(
              calls.filter((call) => call.role === role).map(({ id }) => id),
            );
            const own = transitions.filter((transition) => transition.role === role);
            expect(turns.flatMap(({ transition }) => transition ?? [])).toEqual(own);
            for (const [k, { call }] of own.entries()) expect(actOf(turns[k]!)?.id).toBe(call);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  test('a branch has all of its prefix: its transitions and calls, and what it earned', () => {
    fc.assert(
      fc.property(random, (group) => {
        const byKey = new Map(
          group.members.map((episode): [string, Episode] => [keyText(episode.key), episode]),
        );
        for (const { members } of roleGroups([group])) {
          const byId = new Map(members.map((trajectory) => [trajectory.id, trajectory]));
          for (const { parent, sharedTurns = 0, turns, episode } of members) {
            if (parent === undefined) continue;
            const origin = byKey.get(keyText(episode.branchedFrom!.episode))!;
            expect(
              chainOf(group, episode).transitions.slice(0, episode.branchedFrom!.transition + 1),
            ).toEqual(chainOf(group, origin).transitions.slice(0, episode.branchedFrom!.transition + 1));
            const shared = byId.get(parent)!.turns.slice(0, sharedTurns);
            expect(turns.slice(0, sharedTurns).map(({ transition }) => transition)).toEqual(
              shared.map(({ transition }) => transition),
            );
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});
