/** The worked numbers of the algorithm reference for methods that make their own rewards or rescale outcomes. */

import { describe, expect, test } from 'vitest';
import { attributionError } from './methods/turn/progress-estimator.ts';
import { findCreditMethod } from './methods.ts';
import { parseRollouts } from './report/node/read-rollouts.ts';
import {
  advantages,
  expectClose,
  group,
  half,
  rewards,
  shapedRewards,
  trajectoriesOf,
} from './testing/worked.test-helper.ts';

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
