/** The worked numbers of the algorithm reference, computed as a user would: a rollout file in, a report out. */

import { describe, expect, test } from 'vitest';
import { advantages, expectClose, tokens } from './testing/worked.test-helper.ts';

const outcomes = [1, 0, 0, 0.5].map((outcome, index) => ({
  groupId: 'g',
  id: `r${index}`,
  outcome,
  turns: Array.from({ length: [1, 2, 3, 2][index]! }, () => ({})),
}));
const firstTurns = (rows: readonly number[][]): number[][] => rows.map((row) => row.slice(0, 1));

describe('reinforce', () => {
  const rollout = { groupId: 'g', id: 'a', turns: [{}, {}, { reward: 1 }] };

  test('discounts per turn', () => {
    expectClose(advantages('reinforce', [rollout], { gamma: 0.9 }), [[0.81, 0.9, 1]]);
    expect(advantages('reinforce', [rollout])).toEqual([[1, 1, 1]]);
  });

  test('an outcome without turn rewards is the reward of the last turn', () => {
    const bare = { groupId: 'g', id: 'a', outcome: 1, turns: [{}, {}, {}] };
    expectClose(advantages('reinforce', [bare], { gamma: 0.9 }), [[0.81, 0.9, 1]]);
  });

  test('turn rewards stand where there are any, whatever the outcome', () => {
    const scored = { groupId: 'g', id: 'a', outcome: 3, turns: [{ reward: 0.5 }, {}] };
    expect(advantages('reinforce', [scored])).toEqual([[0.5, 0]]);
    expect(tokens('reinforce++', [scored], { whiten: false })).toEqual([[0.5, 0]]);
  });

  test('within an attempt, what a later one earns is not its return', () => {
    const attempt = 1;
    const twice = [
      { groupId: 'g', id: 'a', turns: [{}, { reward: 1 }, { attempt }, { attempt, reward: -9 }] },
      { groupId: 'g', id: 'b', turns: [{ reward: 0.5 }, { reward: 0.5 }] },
      {
        groupId: 'g',
        id: 'c',
        turns: [
          { attempt: 0, reward: 2 },
          { attempt, reward: 3 },
        ],
      },
    ];
    const within = { within: 'attempt' };
    expect(advantages('reinforce', twice, within)).toEqual([
      [1, 1, -9, -9],
      [1, 0.5],
      [2, 3],
    ]);
    expect(advantages('reinforce', twice, { ...within, gamma: 0.5 })[0]).toEqual([0.5, 1, -4.5, -9]);
    expect(advantages('reinforce', twice)[0]).toEqual([-8, -8, -9, -9]);
  });

  test('a batch baseline is the mean over turns', () => {
    const other = { groupId: 'h', id: 'b', turns: [{}] };
    expectClose(advantages('reinforce', [rollout, other], { baseline: 'batch' }), [
      [0.25, 0.25, 0.25],
      [-0.75],
    ]);
  });
});

describe('reinforce, divided by the spread of the batch', () => {
  const turns = (...rewards: readonly number[]) => ({
    groupId: 'g',
    id: rewards.join('/'),
    turns: rewards.map((reward) => ({ reward })),
  });

  test('returns 2, 0 and 4 have mean 2 and standard deviation 2', () => {
    const rows = [turns(2, 0), turns(4)];
    const options = { gamma: 0, baseline: 'batch', scale: 'std' };
    expectClose(advantages('reinforce', rows, options), [[0, -1], [1]]);
  });

  test('equal returns have no spread', () => {
    const options = { gamma: 0, baseline: 'batch', scale: 'std' };
    expect(advantages('reinforce', [turns(1), turns(1, 1)], options)).toEqual([[0], [0, 0]]);
  });
});

describe('reinforce++', () => {
  const rows = [1, 0].map((outcome) => ({
    groupId: 'g',
    id: `outcome ${outcome}`,
    outcome,
    turns: [
      { tokens: 1, observationTokens: 1 },
      { reward: outcome, tokens: 2 },
    ],
  }));

  test('does not reset at observations', () => {
    expectClose(tokens('reinforce++', rows), [
      [0.9129, 0.9129, 0.9129],
      [-0.9129, -0.9129, -0.9129],
    ]);
  });

  const reset = [
    [-0.6455, 1.291, 1.291],
    [-0.6455, -0.6455, -0.6455],
  ];

  test('does with observationReset', () => {
    expectClose(tokens('reinforce++', rows, { observationReset: true }), reset);
  });

  test('reads a mask with observations inside one turn', () => {
    const masked = [1, 0].map((reward) => ({
      groupId: 'g',
      id: `${reward}`,
      turns: [{ reward, mask: [1, 0, 1, 1] }],
    }));
    expectClose(tokens('reinforce++', masked, { observationReset: true }), reset);
    expectClose(tokens('reinforce++', masked).slice(0, 1), [[0.9129, 0.9129, 0.9129]]);
  });

  test('a group baseline is whitened over tokens', () => {
    const lengths = outcomes.map(({ turns, ...rest }) => ({ ...rest, turns: [{ tokens: turns.length }] }));
    expectClose(firstTurns(tokens('reinforce++', lengths, { baseline: 'group' })), [
      [1.9843],
      [-0.6614],
      [-0.6614],
      [0.6614],
    ]);
  });

  test('discounts per sampled token when not whitened', () => {
    const [row] = tokens('reinforce++', rows.slice(0, 1), { gamma: 0.5, whiten: false });
    expect(row).toEqual([0.25, 0.5, 1]);
  });
});

describe('gae', () => {
  const rollout = {
    groupId: 'g',
    id: 'a',
    turns: [
      { tokens: 2, values: [0.2, 0.4, 0.9], observationTokens: 1 },
      { reward: 1, tokens: 2, values: [0.5, 0.6] },
    ],
  };
  const raw = [[0.7282, 0.556, 0.48, 0.4]];

  test('skips the observation and whitens', () => {
    expectClose(tokens('gae', [rollout], { whiten: false }), raw);
    expectClose(tokens('gae', [rollout]), [[1.336, 0.1067, -0.4358, -1.0069]]);
    expectClose(advantages('gae', [rollout]), [[0.72135, -0.72135]]);
  });

  test('the value at the observation has no influence, and a mask selects as well', () => {
    const [first, second] = rollout.turns;
    const moved = { ...rollout, turns: [{ ...first, values: [0.2, 0.4, -123] }, second] };
    expect(tokens('gae', [moved])).toEqual(tokens('gae', [rollout]));
    const masked = {
      groupId: 'g',
      id: 'a',
      turns: [{ reward: 1, values: [0.2, 0.4, 0.9, 0.5, 0.6], mask: [1, 1, 0, 1, 1] }],
    };
    expectClose(tokens('gae', [masked], { whiten: false }), raw);
    const bare = {
      groupId: 'g',
      id: 'a',
      turns: [
        { values: [0.2, 0.4], observationTokens: 1 },
        { reward: 1, values: [0.5, 0.6] },
      ],
    };
    expectClose(tokens('gae', [bare], { whiten: false }), raw);
  });

  test('turn-sized tokens reproduce turn-level GAE', () => {
    const turns = [{ values: [0.3] }, { values: [0.5] }, { reward: 1, values: [0.7] }];
    const options = { gamma: 0.99, lambda: 0.9, whiten: false };
    expectClose(advantages('gae', [{ groupId: 'g', id: 'a', turns }], options), [[0.6051, 0.4603, 0.3]]);
  });

  test('token GAE of the two-turn check with a reward in the middle', () => {
    const turns = [
      { reward: 0.2, values: [0.1, 0.2, 0.3], observationTokens: 1 },
      { reward: 1, values: [0.4, 0.5, 0.6] },
    ];
    const rollouts = [{ groupId: 'g', id: 'a', turns }];
    expectClose(tokens('gae', rollouts, { lambda: 1, whiten: false }), [[1.1, 1, 0.9, 0.6, 0.5, 0.4]]);
    expectClose(tokens('gae', rollouts, { gamma: 0.9, lambda: 1, whiten: false }), [
      [0.6525, 0.6361, 0.629, 0.41, 0.4, 0.4],
    ]);
    expectClose(tokens('gae', rollouts, { lambda: 0.9, whiten: false }), [
      [0.8077, 0.7863, 0.7626, 0.514, 0.46, 0.4],
    ]);
  });
});

describe('outcomes against their group', () => {
  test('rloo', () => {
    expectClose(firstTurns(advantages('rloo', outcomes)), [[0.8333], [-0.5], [-0.5], [0.1667]]);
  });

  test('grpo with both standard deviations', () => {
    expectClose(firstTurns(advantages('grpo', outcomes)), [[1.3056], [-0.7833], [-0.7833], [0.2611]]);
    expectClose(firstTurns(advantages('grpo', outcomes, { std: 'population' })), [
      [1.5076],
      [-0.9045],
      [-0.9045],
      [0.3015],
    ]);
  });

  test('dr-grpo', () => {
    expect(firstTurns(advantages('dr-grpo', outcomes))).toEqual([[0.625], [-0.375], [-0.375], [0.125]]);
  });

  test.each(['grpo', 'rloo', 'dr-grpo'])('%s: equal outcomes and groups of one give exactly 0', (method) => {
    const equal = outcomes.map((rollout) => ({ ...rollout, outcome: 0.1 }));
    for (const row of advantages(method, equal)) for (const value of row) expect(value).toBe(0);
    expect(advantages(method, outcomes.slice(0, 1))).toEqual([[0]]);
  });

  test('roles of one group are compared apart', () => {
    const roles = outcomes.map((rollout, index) => ({ ...rollout, role: index < 2 ? 'first' : 'second' }));
    expect(firstTurns(advantages('dr-grpo', roles))).toEqual([[0.5], [-0.5], [-0.25], [0.25]]);
  });
});

describe('gigpo', () => {
  const group = [
    { groupId: 'g', id: 'τ1', turns: [{ anchor: 'A' }, { anchor: 'B' }, { anchor: 'C', reward: 1 }] },
    { groupId: 'g', id: 'τ2', turns: [{ anchor: 'A' }, { anchor: 'B' }] },
  ];

  test('as the released code computes it', () => {
    expectClose(
      advantages('gigpo', group, { gamma: 0.9, normalisation: 'mean', episodeStatistics: 'step' }),
      [
        [0.805, 0.85, 0.4],
        [-1.005, -1.05],
      ],
    );
    expectClose(advantages('gigpo', group, { gamma: 0.9, episodeStatistics: 'step' }), [
      [1.4374, 1.4374, 0.7303],
      [-1.8025, -1.8025],
    ]);
  });

  test('with one outcome per trajectory, as in the paper', () => {
    expectClose(advantages('gigpo', group, { omega: 0, normalisation: 'mean' }), [
      [0.5, 0.5, 0.5],
      [-0.5, -0.5],
    ]);
    expectClose(advantages('gigpo', group, { omega: 0 }), [
      [Math.SQRT1_2, Math.SQRT1_2, Math.SQRT1_2],
      [-Math.SQRT1_2, -Math.SQRT1_2],
    ]);
  });

  test('a group of one has only states to compare, and a state met once gives 0', () => {
    const alone = [
      { groupId: 'g', id: 'a', turns: [{ anchor: 'A' }, { anchor: 'A' }, { anchor: 'B', reward: 1 }] },
    ];
    expectClose(advantages('gigpo', alone, { gamma: 0.5, normalisation: 'mean' }), [[-0.125, 0.125, 0]]);
  });
});

describe('rae', () => {
  const games = [1, 1, -1, 1].map((outcome, index) => ({
    groupId: `game ${index}`,
    id: `g${index}`,
    role: 'first',
    outcome,
    turns: [{}],
  }));

  test('reads the baseline before it moves', () => {
    expectClose(advantages('rae', games), [[1], [0.95], [-1.0975], [0.9574]]);
  });

  test('or after', () => {
    expectClose(advantages('rae', games, { order: 'update-first' }), [[0.95], [0.9025], [-1.0426], [0.9095]]);
  });

  test('keeps roles and games apart', () => {
    const both = [games[0]!, { ...games[1]!, role: 'second' }, { ...games[3]!, game: 'kuhn-poker' }];
    expect(advantages('rae', both)).toEqual([[1], [1], [1]]);
    expectClose(advantages('rae', both, { key: 'role' }), [[1], [1], [0.95]]);
  });

  test('discounts by the turns to the end', () => {
    expectClose(advantages('rae', [{ ...games[0]!, turns: [{}, {}, {}] }], { gamma: 0.5 }), [[0.25, 0.5, 1]]);
  });
});
