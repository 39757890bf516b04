/** The worked numbers of the algorithm reference for methods that look at turns, branches, roles and entropies. */

import { describe, expect, test } from 'vitest';
import { preferencePairs } from './malt.ts';
import { findCreditMethod } from './methods.ts';
import { attributionError } from './progress-estimator.ts';
import { parseRollouts } from './read-rollouts.ts';
import type { CreditTrajectory } from './rollouts.ts';
import { advantages, expectClose, shapedRewards, tokens, trajectoriesOf } from './worked.test-helper.ts';

/** One trajectory per list of turns, all in one group. */
const group = (...turns: readonly (readonly object[])[]): object[] =>
  turns.map((own, index) => ({ groupId: 'g', id: `τ${index + 1}`, turns: own }));
const rewards = (...lists: readonly (readonly number[])[]): object[] =>
  group(...lists.map((list) => list.map((reward) => ({ reward }))));
const half = Math.SQRT1_2;

describe('reinforce++-baseline', () => {
  test('is whitened over tokens', () => {
    const rows = [1, 0, 0, 0.5].map((outcome, index) => ({
      groupId: 'g',
      id: `${index}`,
      outcome,
      turns: [{ tokens: [1, 2, 3, 2][index]! }],
    }));
    expectClose(advantages('reinforce++-baseline', rows), [[1.9843], [-0.6614], [-0.6614], [0.6614]]);
  });
});

describe('dapo', () => {
  const long = (length: number, outcome = 1) => ({
    groupId: 'g',
    id: `${length}/${outcome}`,
    outcome,
    turns: [{ tokens: length }],
  });

  test('punishes length softly, and no more than p', () => {
    expectClose(
      shapedRewards(
        'dapo',
        [16000, 18432, 20480, 21000].map((length) => long(length, 0)),
      ),
      [[0], [-0.5], [-1], [-1]],
    );
  });

  test('then compares as grpo', () => {
    expectClose(advantages('dapo', [long(16000), long(18432), long(20480, 1.5), long(100, 0.5)]), [
      [1.5],
      [-0.5],
      [-0.5],
      [-0.5],
    ]);
  });
});

describe('turn-gae', () => {
  const turns = [{ value: 0.3 }, { value: 0.5 }, { value: 0.7, reward: 1 }];

  test('γ .99, λ .9', () => {
    expectClose(advantages('turn-gae', group(turns), { whiten: false }), [[0.6051, 0.4603, 0.3]]);
  });

  test('reads the value before the first token', () => {
    const perToken = [{ values: [0.3, 9] }, { values: [0.5] }, { values: [0.7, -5, 3], reward: 1 }];
    expectClose(advantages('turn-gae', group(perToken), { whiten: false }), [[0.6051, 0.4603, 0.3]]);
  });

  test('a single turn is r - V', () => {
    expectClose(advantages('turn-gae', group([{ value: 0.25, reward: 1 }]), { whiten: false }), [[0.75]]);
  });

  test('is whitened over tokens', () => {
    const [row] = advantages('turn-gae', group(turns.map((turn, k) => ({ ...turn, tokens: [2, 1, 1][k] }))));
    const mean = (2 * 0.6051273 + 0.4603 + 0.3) / 4;
    const variance = (2 * (0.6051273 - mean) ** 2 + (0.4603 - mean) ** 2 + (0.3 - mean) ** 2) / 3;
    expectClose([row!], [[0.6051273, 0.4603, 0.3].map((a) => (a - mean) / Math.sqrt(variance))]);
  });

  test('the critic learns at the first token of a turn', () => {
    const rollout: CreditTrajectory = {
      id: 'a',
      groupId: 'g',
      role: 'agent',
      outcome: 1,
      turns: [
        { reward: 0, tokens: 2, values: [0.3, 0.4] },
        { reward: 1, tokens: 0 },
        { reward: 1, tokens: 1, values: [0.5] },
      ],
    };
    const { credit } = findCreditMethod('turn-gae').create({ gamma: 1, lambda: 1, whiten: false });
    const [given] = credit([rollout], {}).credits;
    expectClose([given!.turnAdvantages_K], [[1.7, 0, 0.5]]);
    expect([...given!.returns_T!]).toEqual([2, 0.4, 1]);
    const onlyBefore = { ...rollout, turns: [{ reward: 1, tokens: 2, value: 0.5 }] };
    expect(credit([onlyBefore], {}).credits[0]!.returns_T).toBeUndefined();
  });
});

describe('bi-level-gae', () => {
  const two = group([
    { reward: 0.2, tokens: 3, values: [0.1, 0.2, 0.3, 0], observationTokens: 1 },
    { reward: 1, values: [0.4, 0.5, 0.6] },
  ]);
  const raw = (options: object) => tokens('bi-level-gae', two, { whiten: false, ...options });

  test('the turn advantage, then tokens', () => {
    expectClose(raw({}), [[1.05, 0.95, 0.85, 0.6, 0.5, 0.4]]);
    expectClose(tokens('bi-level-gae', two), [[1.2395, 0.8581, 0.4767, -0.4767, -0.8581, -1.2395]]);
  });

  test('with other discounts', () => {
    expectClose(raw({ gammaH: 1 }), [[1.1, 1, 0.9, 0.6, 0.5, 0.4]]);
    expectClose(raw({ gamma: 0.9, gammaH: 0.9 }), [[0.791, 0.79, 0.8, 0.41, 0.4, 0.4]]);
    expectClose(raw({ gammaH: 1, lambda: 0.9 }), [[0.8866, 0.874, 0.86, 0.514, 0.46, 0.4]]);
  });

  test('ten tokens', () => {
    const ten = group([
      { reward: 1, values: [0.1, 0.2, 0.3, 0.4, 0.5] },
      { reward: 1, values: [0.6, 0.7, 0.8, 0.9, 1] },
    ]);
    expectClose(tokens('bi-level-gae', ten, { whiten: false }), [
      [1.85, 1.75, 1.65, 1.55, 1.45, 0.4, 0.3, 0.2, 0.1, 0],
    ]);
  });

  test('added to the last token instead', () => {
    // r - V of the last token, plus the turn's advantage.
    expectClose(raw({ lastToken: 'add' }), [[0.95, 0.85, 0.75, 1, 0.9, 0.8]]);
  });
});

describe('hgpo', () => {
  const two = group(
    [{ anchor: 'A' }, { anchor: 'B' }, { anchor: 'C', reward: 1 }],
    [{ anchor: 'A' }, { anchor: 'B' }],
  );
  const three = [
    ...two,
    { groupId: 'g', id: 'τ3', turns: [{ anchor: 'D' }, { anchor: 'B' }, { anchor: 'C', reward: 0.5 }] },
  ];
  const options = { K: 1, gamma: 0.9 };

  test('two trajectories', () => {
    expectClose(advantages('hgpo', two, { ...options, normalisation: 'mean' }), [
      [0.405, 0.45, 0],
      [-0.405, -0.45],
    ]);
    expectClose(advantages('hgpo', two, options), [
      [1, 1, 0],
      [-1, -1],
    ]);
  });

  test('three trajectories', () => {
    expectClose(advantages('hgpo', three, { ...options, normalisation: 'mean' }), [
      [0.405, 0.45, 0.25],
      [-0.405, -0.45],
      [0, 0, -0.25],
    ]);
    expectClose(advantages('hgpo', three, options), [
      [1, 1.0899, 1],
      [-1, -1.0899],
      [0, 0, -1],
    ]);
  });

  test('comparisons that give exactly 0 count with zeros=keep', () => {
    // In B, τ3 is at the mean of the three (weight 2) and alone in its history, which is no comparison.
    const kept = advantages('hgpo', three, { ...options, zeros: 'keep' });
    expectClose(kept, advantages('hgpo', three, options));
    const tie = group(
      [{ anchor: 'A' }, { anchor: 'B', reward: 1 }],
      [{ anchor: 'A' }, { anchor: 'B', reward: 1 }],
      [{ anchor: 'C' }, { anchor: 'B', reward: 0 }],
    );
    const dropped = advantages('hgpo', tie, { ...options, normalisation: 'mean' });
    const counted = advantages('hgpo', tie, { ...options, normalisation: 'mean', zeros: 'keep' });
    expectClose([[dropped[0]![1]!, counted[0]![1]!]], [[1 / 3, (2 / 3 + 0) / 5]]);
  });

  test('whole episodes join as depth 0', () => {
    const [first] = advantages('hgpo', two, { ...options, normalisation: 'mean', baseGroup: true });
    // Depth 0 weighs 1 (0.5), depth 1 weighs 2, depth 2 weighs 3.
    expectClose([first!], [[(0.5 + 2 * 0.405) / 3, (0.5 + 5 * 0.45) / 6, 0.5]]);
  });
});

describe('step-grpo', () => {
  const scored = rewards([3, 7], [5, 9]);

  test('all steps of the group together', () => {
    expectClose(advantages('step-grpo', scored), [
      [-1.1619, 0.3873],
      [-0.3873, 1.1619],
    ]);
  });

  test('cumulative and best step', () => {
    expectClose(advantages('step-grpo', scored, { form: 'cumulative' }), [
      [-0.7746, 0.3873],
      [0.7746, 1.1619],
    ]);
    expectClose(advantages('step-grpo', scored, { form: 'max' }), [
      [-half, -half],
      [half, half],
    ]);
  });
});

describe('igpo', () => {
  const probed = [
    [0.1, 0.3, 0.6, 1],
    [0.1, 0.05, 0.2, 0],
  ].map(([p0, p1, p2, outcome], index) => ({
    groupId: 'g',
    id: `${index}`,
    turns: [{ answerProbability: p0 }, { answerProbability: p1 }, { answerProbability: p2, reward: outcome }],
  }));

  test('separate, by log-ratios', () => {
    expectClose(advantages('igpo', probed), [
      [1.3034, 0.7852, half],
      [-1.3034, 0.1234, -half],
    ]);
  });

  test('joint, by differences', () => {
    expectClose(advantages('igpo', probed, { normalisation: 'joint', gain: 'difference' }), [
      [1.8341, 2.0088, 1.9214],
      [-1.8341, -1.0044, -0.6987],
    ]);
  });

  test('centred, by differences', () => {
    expectClose(advantages('igpo', probed, { normalisation: 'centred', gain: 'difference' }), [
      [0.7, 0.575, 0.5],
      [-0.7, -0.575, -0.5],
    ]);
  });

  test('from gains that are known', () => {
    const known = [
      [0.2, 0.3, 1],
      [-0.05, 0.15, 0],
    ].map(([first, second, outcome], index) => ({
      groupId: 'g',
      id: `${index}`,
      turns: [{ informationGain: first }, { informationGain: second }, { reward: outcome }],
    }));
    expectClose(advantages('igpo', known, { normalisation: 'joint' }), [
      [1.8341, 2.0088, 1.9214],
      [-1.8341, -1.0044, -0.6987],
    ]);
  });

  test('one turn has only its outcome, and a probability of 0 is survived', () => {
    expectClose(advantages('igpo', rewards([1], [0])), [[half], [-half]]);
    const zero = [
      {
        groupId: 'g',
        id: 'a',
        turns: [{ answerProbability: 0 }, { answerProbability: 1 }, { answerProbability: 1 }],
      },
    ];
    expect(advantages('igpo', zero)[0]!.every(Number.isFinite)).toBe(true);
  });
});

describe('matchtir', () => {
  const call = (name: string, args: object) => ({ name, arguments: args });
  const goldenCalls = [call('search', { q: 'x' }), call('calc', { a: 1, b: 2 })];
  const predicted = [call('Search', { q: 'x' }), call('calc', { a: 1, b: 3 }), call('search', { q: 'y' })];
  const called = [{ groupId: 'g', id: 'a', goldenCalls, turns: predicted.map((one) => ({ calls: [one] })) }];

  test.each(['hungarian', 'greedy'])('%s rewards', (matching) => {
    expectClose(shapedRewards('matchtir', called, { matching }), [[1, 0.75, 0]]);
  });

  test('transport rewards', () => {
    expectClose(shapedRewards('matchtir', called, { matching: 'transport' }), [[0.3231, 0.25, 0.1179]]);
  });

  test('values that are written alike are told apart', () => {
    const golden = [1, '1', [1], '[1]', null, 'null'];
    const turns = golden.map((q) => ({ calls: [call('search', { q })] }));
    const rolled = golden.map((q) => ({
      groupId: 'g',
      id: JSON.stringify(q),
      goldenCalls: [call('search', { q })],
      turns,
    }));
    const found = shapedRewards('matchtir', rolled, { matching: 'greedy' });
    for (const [index, rewards_K] of found.entries()) {
      expect(rewards_K.filter((reward) => reward === 1)).toEqual([1]);
      expect(rewards_K[index]).toBe(1);
    }
  });

  test('a turn with several calls earns their mean, and unmatched calls what they cost', () => {
    const together = [{ groupId: 'g', id: 'a', goldenCalls, turns: [{ calls: predicted }, { reward: 1 }] }];
    expectClose(shapedRewards('matchtir', together), [[1.75 / 3, 1]]);
    expectClose(shapedRewards('matchtir', together, { unmatched: -0.5 }), [[1.25 / 3, 1]]);
    const none = [{ ...called[0], goldenCalls: [] }];
    expectClose(shapedRewards('matchtir', none, { unmatched: -0.5 }), [[-0.5, -0.5, -0.5]]);
  });

  test('the best total is not the best pair first', () => {
    // First call: 1 with the first golden one, 2/3 with the second. Second call: 2/3 and 0.
    const golden = [call('f', { a: 1 }), call('f', { a: 2 })];
    const calls = [call('f', { a: 1 }), call('f', { a: 3, b: 1, c: 1 })];
    const both = [
      { groupId: 'g', id: 'a', goldenCalls: golden, turns: calls.map((one) => ({ calls: [one] })) },
    ];
    const sum = (rows: number[][]): number => rows.flat().reduce((a, b) => a + b, 0);
    const best = sum(shapedRewards('matchtir', both));
    expect(best).toBeGreaterThanOrEqual(sum(shapedRewards('matchtir', both, { matching: 'greedy' })));
  });

  test('two levels', () => {
    const turnRewards = rewards([1, 0.75, 1], [0, 0.5]);
    expectClose(advantages('matchtir', turnRewards), [
      [half, half, 0.8536],
      [-half, -half],
    ]);
  });
});

describe('spa-rl', () => {
  const attributed = group([
    { progress: 0.1, valid: true },
    { progress: 0.3, valid: false },
    { progress: 0.4, reward: 1 },
  ]);

  test('progress and grounding', () => {
    expectClose(shapedRewards('spa-rl', attributed), [[0.6, 0.3, 0.9]]);
    expectClose(advantages('spa-rl', attributed, { gamma: 0, whiten: false }), [[0.6, 0.3, 0.9]]);
    expectClose(advantages('spa-rl', attributed, { whiten: false }), [[1.8, 1.2, 0.9]]);
    expect(attributionError([0.1, 0.3, 0.4], 1)).toBeCloseTo(0.04, 10);
  });

  test('the released script', () => {
    const outcomes = rewards([1], [0], [0.5]);
    expectClose(shapedRewards('spa-rl', outcomes, { contribution: 'leave-one-out', beta: 0 }), [
      [0.75],
      [-0.75],
      [0],
    ]);
  });
});

describe('g-ra', () => {
  const gated = [
    [-1, 0.8],
    [0, 0.5],
    [1, 0.6],
  ].map(([outcome, dense], index) => ({ groupId: 'g', id: `${index}`, outcome, turns: [{ dense }, {}] }));

  test('gated', () => {
    expect(trajectoriesOf('g-ra', gated).map(({ shapedOutcome }) => shapedOutcome)).toEqual([-1, 0.5, 1.6]);
    expectClose(
      advantages('g-ra', gated),
      [-1.0472, 0.1022, 0.945].map((a) => [a, a]),
    );
  });

  test('not gated', () => {
    expectClose(
      advantages('g-ra', gated, { gated: false }),
      [-0.9184, -0.1469, 1.0653].map((a) => [a, a]),
    );
  });

  test('above the threshold, and several levels', () => {
    const above = trajectoriesOf('g-ra', gated, { comparison: 'above' });
    expect(above.map(({ shapedOutcome }) => shapedOutcome)).toEqual([-1, 0, 1.6]);
    const levels = [
      { groupId: 'g', id: 'a', outcome: 1, turns: [{ dense: [0.5, 2] }, { dense: [0.25, 1] }] },
    ];
    const total = (options: object) => trajectoriesOf('g-ra', levels, options)[0]!.shapedOutcome;
    expect(total({ threshold: [1, 0.75] })).toBe(4.75);
    expect(total({ threshold: [1, 0.8] })).toBe(1.75);
    expect(total({ threshold: 2 })).toBe(1);
  });

  test('the last reward is the outcome where no dense ones are given', () => {
    expect(
      trajectoriesOf('g-ra', rewards([0.8, -1], [0.6, 1])).map(({ shapedOutcome }) => shapedOutcome),
    ).toEqual([-1, 1.6]);
    expect(() =>
      advantages('g-ra', [{ groupId: 'g', id: 'a', outcome: 1, turns: [{ reward: 0.5 }, {}] }]),
    ).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: The outcome of trajectory "a" is not the sum of its turn rewards, so it is not clear what its turns earned on the way. Seen: outcome 1, turn rewards 0.5, 0. Give intermediate rewards that are not part of the outcome as turns[].dense, or leave the outcome out.]`,
    );
  });
});

describe('e-grpo', () => {
  const searched = (successes: readonly boolean[]) =>
    [0.8, 0.4, 0, 0.2].map((entityShare, index) => ({
      groupId: 'g',
      id: `${index}`,
      entityShare,
      success: successes[index]!,
      turns: [{}],
    }));

  test('one right, and none', () => {
    expectClose(shapedRewards('e-grpo', searched([true, false, false, false])), [[1], [0.15], [0], [0.075]]);
    expectClose(advantages('e-grpo', searched([true, false, false, false])), [
      [1.487],
      [-0.3349],
      [-0.6564],
      [-0.4957],
    ]);
    expectClose(advantages('e-grpo', searched([false, false, false, false])), [
      [1.3175],
      [0.1464],
      [-1.0247],
      [-0.4392],
    ]);
  });

  test('cut off ones count in the group but learn nothing, badly formed ones earn nothing', () => {
    const [right, half, none] = searched([true, false, false, false]);
    const cut = [right!, { ...half!, stop: 'token-limit' }, { ...none!, wellFormed: false }];
    expectClose(shapedRewards('e-grpo', cut), [[1], [0], [0]]);
    expectClose(advantages('e-grpo', cut), [[1.1547], [0], [-0.5773]]);
  });
});

describe('mt-grpo', () => {
  const both = [
    [0.5, 1.5],
    [0, 0],
    [0.5, 0],
    [0, 0.5],
  ];
  const expected = [
    [2.2797, 1 / (half + 1e-4)],
    [-1.5727, -0.5 / (half + 1e-4)],
    [0.1587, -0.5 / (half + 1e-4)],
    [-0.8657, 0],
  ];

  test('outcome and what was earned on the way', () => {
    const apart = both.map(([dense, outcome], index) => ({
      groupId: 'g',
      id: `${index}`,
      outcome,
      turns: [{ dense }, {}],
    }));
    expectClose(advantages('mt-grpo', apart), expected);
    expectClose(advantages('mt-grpo', rewards(...both)), expected);
  });

  test('without a tool result the rewards are compared together', () => {
    expectClose(advantages('mt-grpo', rewards([2], [0], [0.5], [0.5])), [
      [1.4432],
      [-0.8659],
      [-0.2886],
      [-0.2886],
    ]);
  });

  test('many turns', () => {
    const many = rewards([1, 0, 1], [0, 1, 0]);
    const z = 0.5 / (half + 1e-4);
    expectClose(advantages('mt-grpo', many, { form: 'multi-turn' }), [
      [z, 0, z],
      [-z, 0, -z],
    ]);
  });
});

describe('arpo', () => {
  const branched = [
    { groupId: 'g', id: 'a', outcome: 1, turns: [{}, {}] },
    { groupId: 'g', id: 'b', outcome: 0, parent: 'a', sharedTurns: 1, turns: [{}, {}, {}] },
    { groupId: 'g', id: 'c', outcome: 1, turns: [{}] },
  ];

  test('soft is grpo, hard gives shared turns the mean', () => {
    expectClose(advantages('arpo', branched), [[0.5773, 0.5773], [-1.1547, -1.1547, -1.1547], [0.5773]]);
    expectClose(advantages('arpo', branched, { attribution: 'hard' }), [
      [-0.2887, 0.5773],
      [-0.2887, -1.1547, -1.1547],
      [0.5773],
    ]);
  });

  test('a branch of a branch shares with both, and a parent that failed still joins its branches', () => {
    const deep = [
      ...branched,
      { groupId: 'g', id: 'd', outcome: 0, parent: 'b', sharedTurns: 2, turns: [{}, {}, {}] },
    ];
    const [a, b, , d] = advantages('arpo', deep, { attribution: 'hard' });
    expect(a![0]).toBe(b![0]);
    expect(d![0]).toBe(a![0]);
    expect(d![1]).toBe(b![1]);
    expect(d![2]).not.toBe(a![0]);
    const orphans = deep.map((row) => (row.id === 'a' ? { ...row, stop: 'timeout' } : row));
    const withoutParent = advantages('arpo', orphans, { attribution: 'hard' });
    expect(withoutParent[1]![0]).toBe(withoutParent[3]![0]);
  });

  test('a circle of parents is refused', () => {
    const circle = [
      { ...branched[0]!, parent: 'b', sharedTurns: 1 },
      { ...branched[1]!, parent: 'a' },
    ];
    expect(() => advantages('arpo', circle, { attribution: 'hard' })).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: Trajectory "a" branched from itself, by way of its parents. Seen: parent "b". Allowed: parents that lead to a trajectory without one.]`,
    );
    expect(() => advantages('tree-grpo', circle)).toThrow('branched from itself');
  });
});

describe('tree-grpo', () => {
  const leaves = [
    { groupId: 'g', id: 'a', outcome: 1, turns: [{}] },
    { groupId: 'g', id: 'b', outcome: 0, parent: 'a', sharedTurns: 0, turns: [{}] },
    { groupId: 'g', id: 'c', outcome: 0, turns: [{}] },
    { groupId: 'g', id: 'd', outcome: 0, parent: 'c', sharedTurns: 0, turns: [{}] },
  ];

  test('inside the tree, plus across trees; equal leaves of a tree have only the second', () => {
    expectClose(advantages('tree-grpo', leaves), [[half + 1.5], [-half - 0.5], [-0.5], [-0.5]]);
    expectClose(advantages('tree-grpo', leaves, { form: 'code' }), [[half], [-half], [0], [0]]);
  });
});

describe('aepo', () => {
  test('entropies move the advantage', () => {
    const rows = [
      { groupId: 'g', id: 'a', outcome: 2, turns: [{ entropies: [0.2, 0.6, 1] }] },
      { groupId: 'g', id: 'b', outcome: 1, turns: [{ tokens: 0, entropies: [] }] },
      { groupId: 'g', id: 'c', outcome: 0, turns: [{ tokens: 0, entropies: [] }] },
    ];
    expectClose(tokens('aepo', rows, { a: 0.3 }), [[0.7, 1, 1.3], [], []]);
  });

  test('one entropy for a turn, and equal ones', () => {
    const rows = rewards([1], [0]).map((row) => ({
      ...row,
      turns: [{ ...(row as { turns: object[] }).turns[0], tokens: 2, entropy: 0.5 }],
    }));
    expectClose(tokens('aepo', rows), [
      [half, half],
      [-half, -half],
    ]);
  });
});

describe('spear', () => {
  const means = [0.1, 0.2, 0.4, 0.5, 0.9].map((outcome, index) => ({
    groupId: `${index}`,
    id: 'a',
    outcome,
    turns: [{}],
  }));
  const replayed = (outcome: number, replayedAdvantage: number) => ({
    groupId: 'old',
    id: `${outcome}/${replayedAdvantage}`,
    outcome,
    replayedAdvantage,
    turns: [{}],
  });
  const last = (rows: number[][], count: number) => rows.slice(-count).flat();

  test('replayed outcomes against the median of group means', () => {
    const rows = [...means, replayed(1, 0.5), replayed(0.3, 0.5), replayed(1, -0.5), replayed(0.4, 0.5)];
    expectClose([last(advantages('spear', rows), 4)], [[0.6, 0, 0, 0]]);
    expectClose([last(advantages('spear', rows, { filter: 'new' }), 4)], [[0.6, 0, 0.6, 0]]);
    expectClose(
      [last(advantages('spear', rows, { recalibration: 'decay', weightDecay: 0.5 }), 4)],
      [[0.25, 0.25, -0.25, 0.25]],
    );
  });

  test('group means are remembered, and forgotten', () => {
    const { credit } = findCreditMethod('spear').create({ capacity: 3 });
    const parsed = parseRollouts(JSON.stringify(means), 'x');
    const { state } = credit(parsed, {});
    expect(state['spear/groupMeans']).toEqual([0.4, 0.5, 0.9]);
    const later = parseRollouts(JSON.stringify([replayed(1, 1)]), 'x');
    expectClose([credit(later, state).credits[0]!.turnAdvantages_K], [[0.5]]);
    expect(credit(later, {}).credits[0]!.turnAdvantages_K).toEqual([0]);
  });
});

describe('earl', () => {
  test('outcome minus the counterfactual, and the group elsewhere', () => {
    const rows = group([{ counterfactual: 0.25 }, { reward: 1 }], [{}]);
    expectClose(advantages('earl', rows), [[0.75, 0.5], [-0.5]]);
    expectClose(advantages('earl', rows, { elsewhere: 'none' }), [[0.75, 0], [0]]);
  });
});

describe('mars', () => {
  const match = [
    { groupId: 'g', id: 'a', role: '0', outcome: 1, turns: [{}, {}, {}] },
    { groupId: 'g', id: 'b', role: '0', outcome: -1, turns: [{}] },
    { groupId: 'g', id: 'a', role: '1', outcome: -1, turns: [{}, {}] },
    { groupId: 'g', id: 'b', role: '1', outcome: 1, turns: [{}] },
  ];

  test('against the turns of the role', () => {
    expectClose(advantages('mars', match), [[0.5, 0.5, 0.5], [-1.5], [-0.6667, -0.6667], [1.3333]]);
  });

  test('against its different values', () => {
    expectClose(advantages('mars', match, { centring: 'distinct-mean' }).slice(0, 2), [[1, 1, 1], [-1]]);
  });

  test('a role that always wins learns nothing from it', () => {
    const always = match.slice(0, 1).map((row) => ({ ...row, outcome: 1 }));
    expect(advantages('mars', always)).toEqual([[0, 0, 0]]);
  });
});

describe('cory', () => {
  const pair = [
    { groupId: 'g', id: 'a', role: 'pioneer', outcome: 0.6, turns: [{}] },
    { groupId: 'g', id: 'a', role: 'observer', outcome: 0.9, turns: [{}] },
  ];

  test('both get the sum', () => {
    expectClose(advantages('cory', pair), [[1.5], [1.5]]);
    const next = pair.map((row) => ({ ...row, id: 'b', outcome: 0 }));
    expectClose(advantages('cory', [...pair, ...next], { baseline: 'group' }), [
      [0.75],
      [0.75],
      [-0.75],
      [-0.75],
    ]);
  });
});

describe('waltzrl', () => {
  const episode = (id: string, before: number, after: number, feedback: object) => [
    {
      groupId: 'g',
      id,
      role: 'conversation',
      outcome: before + after,
      turns: [{ reward: before }, { reward: after }],
    },
    { groupId: 'g', id, role: 'feedback', turns: [{ labelCorrect: true, ...feedback }] },
  ];
  const rows = [
    ...episode('better', 0, 1, {}),
    ...episode('same', 1, 1, {}),
    ...episode('worse', 1, 0, {}),
    ...episode('wrong label', 0, 1, { labelCorrect: false }),
    ...episode('bad format', 0, 1, { wellFormed: false }),
  ];
  const feedback = (options: object) =>
    advantages('waltzrl', rows, { whiten: false, ...options })
      .filter((_, index) => index % 2 === 1)
      .flat();

  test('improvement, label and format', () => {
    expectClose([feedback({ lambda: 0.25 })], [[1, 0.35, -0.3, 0.1, 0.9]]);
    expectClose([feedback({ alpha: 1, gamma: 0 })], [[1, 0, -1, 0, 1]]);
    expectClose([feedback({ conditioned: false })], [[0.75, 0.1, -0.55, 0.75, 0.65]]);
  });

  test('each role is whitened by itself', () => {
    const whitened = advantages('waltzrl', rows);
    for (const role of [0, 1]) {
      const own = whitened.filter((_, index) => index % 2 === role).flat();
      expect(own.reduce((a, b) => a + b, 0)).toBeCloseTo(0, 8);
    }
  });

  test('a feedback without its conversation is refused', () => {
    expect(() => advantages('waltzrl', rows.slice(1, 2))).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: waltzrl pays trajectory "better" of role "feedback" for what its partner did, and there is none of role "conversation" in its episode. Allowed: a trajectory of each role with the same episode, or the same groupId and id. Name the roles with feedbackRole and conversationRole if they are called otherwise.]`,
    );
  });
});

describe('malt', () => {
  const leaves = [
    [
      [1, 1, 0],
      [1, 0, 0],
      [0, 0, 0],
    ],
    [
      [1, 1, 1],
      [1, 1, 0],
      [0, 1, 0],
    ],
  ].flatMap((verifiers, g) =>
    verifiers.flatMap((refiners, v) =>
      refiners.map((outcome, r) => ({
        groupId: 'q',
        id: `${g}${v}${r}`,
        outcome,
        ...(r > 0
          ? { parent: `${g}${v}0`, sharedTurns: 2 }
          : v > 0
            ? { parent: `${g}00`, sharedTurns: 1 }
            : {}),
        turns: [{}, {}, {}],
      })),
    ),
  );

  test('values and labels', () => {
    const values = advantages('malt', leaves, { advantage: 'value' });
    expectClose(
      [values.filter((_, leaf) => leaf % 3 === 0).map((turns) => turns[1]!)],
      [[2 / 3, 1 / 3, 0, 1, 2 / 3, 1 / 3]],
    );
    expectClose([[values[0]![0]!, values[9]![0]!]], [[1 / 3, 2 / 3]]);
    expect(values.map((turns) => turns[2])).toEqual(leaves.map(({ outcome }) => outcome));
    const labels = advantages('malt', leaves);
    expect([labels[0]![0], labels[9]![0]]).toEqual([0, 1]);
  });

  test('pairs under the same parent', () => {
    const pairs = preferencePairs(parseRollouts(JSON.stringify(leaves), 'x'));
    const at = (turn: number) => pairs.filter(({ chosen }) => chosen.turn === turn);
    expect(at(0).map(({ chosen, rejected }) => [chosen.id, rejected.id])).toEqual([['100', '000']]);
    expect(at(1).map(({ chosen, rejected }) => [chosen.id, rejected.id])).toEqual([
      ['000', '010'],
      ['000', '020'],
      ['100', '120'],
      ['110', '120'],
    ]);
    expect(at(2)).toHaveLength(2 + 2 + 0 + 0 + 2 + 2);
  });
});
