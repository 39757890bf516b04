/** The worked numbers of the algorithm reference for methods that look at turns. */

import { describe, expect, test } from 'vitest';
import { findCreditMethod } from './methods.ts';
import type { CreditTrajectory } from './report/rollouts.ts';
import { advantages, expectClose, group, half, rewards, tokens } from './testing/worked.test-helper.ts';

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
    expect([...given!.targets_T!]).toEqual([1, 0, 1]);
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

  test('takes rounding in probabilities for what it is', () => {
    const noisy = [1e-9, -1e-9].map((noise, index) => ({
      ...{ groupId: 'g', id: `τ${index}`, outcome: 1 },
      turns: [{ informationGain: noise }, {}],
    }));
    for (const [gain] of advantages('igpo', noisy)) expect(Math.abs(gain!)).toBeLessThan(2e-3);
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

describe('earl', () => {
  test('outcome minus the counterfactual, and the group elsewhere', () => {
    const rows = group([{ counterfactual: 0.25 }, { reward: 1 }], [{}]);
    expectClose(advantages('earl', rows), [[0.75, 0.5], [-0.5]]);
    expectClose(advantages('earl', rows, { elsewhere: 'none' }), [[0.75, 0], [0]]);
  });
});
