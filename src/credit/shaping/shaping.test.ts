/** The worked numbers of the method reference for reward shapings, from a rollout file as a user would give it. */

import { describe, expect, test } from 'vitest';
import { parseRollouts } from '../report/node/read-rollouts.ts';
import { creditReport, creditTable } from '../report/report.ts';
import type { CreditState } from '../report/rollouts.ts';
import { expectClose, shapedRewards, trajectoriesOf } from '../testing/worked.test-helper.ts';
import { composeCredit, findRewardShaping, rewardShapings } from './shapings.ts';
import { fadingOut } from './spear-tool-bonus.ts';

const outcomes = (shaping: string, rollouts: readonly object[], options: object = {}): number[] =>
  trajectoriesOf('reinforce', rollouts, {}, { [shaping]: options }).map(
    ({ shapedOutcome }) => shapedOutcome!,
  );
const rewards = (shaping: string, rollouts: readonly object[], options: object = {}): number[][] =>
  shapedRewards('reinforce', rollouts, {}, { [shaping]: options });
const one = (rollout: object): object[] => [{ groupId: 'g', id: 'a', ...rollout }];

describe('ufo', () => {
  const attempts = one({ turns: [{ answer: '3' }, { answer: ' 3' }, { answer: '4', correct: true }] });

  test('the third attempt is right, and one answer came twice', () => {
    expectClose([outcomes('ufo', attempts)], [[0.0833]]);
    expectClose(rewards('ufo', attempts, { lambda: 0 }), [[0, 0, 0.25]]);
  });

  test('an attempt of several turns costs one factor', () => {
    const turns = [
      { answer: '' },
      { answer: '3' },
      { answer: '', attempt: 1 },
      { answer: '4', attempt: 1, correct: true },
    ];
    expectClose(rewards('ufo', one({ turns }), { lambda: 0 }), [[0, 0, 0, 0.5]]);
  });

  test('empty answers do not count, and none at all earns nothing', () => {
    expectClose(rewards('ufo', one({ turns: [{ answer: '' }, { answer: 'X' }, { answer: 'x' }] })), [
      [0, 0, -0.25],
    ]);
    expect(outcomes('ufo', one({ outcome: 1, turns: [{ answer: '' }] }))).toEqual([0]);
    expect(rewards('ufo', one({ turns: [{ answer: '7', reward: 1 }] }))).toEqual([[1]]);
  });
});

describe('any-horizon', () => {
  const turns = (count: number) => Array.from({ length: count }, () => ({}));

  test('a wrong answer at once costs nothing, later it does; a right one earns 1 either way', () => {
    const all = [
      ...one({ success: true, turns: turns(1) }),
      ...one({ id: 'b', success: false, outcome: 1, turns: turns(1) }),
      ...one({ id: 'c', success: true, turns: turns(3) }),
      ...one({ id: 'd', success: false, turns: turns(3) }),
      ...one({ id: 'e', success: false, stop: 'token-limit', turns: turns(1) }),
    ];
    expect(rewards('any-horizon', all)).toEqual([[1], [0], [0, 0, 1], [0, 0, -0.5], [-0.5]]);
    expect(
      outcomes('any-horizon', all, { wrong: 0.25, form: 0.05 }).map((own) => Math.round(own * 100) / 100),
    ).toEqual([...[1.05, 0.05, 1.15], ...[-0.1, -0.2]]);
  });

  test('a call that came n times before costs √n times as much, and a tool may be worth it', () => {
    const call = (name: string, at: number) => ({ calls: [{ name, arguments: { at } }] });
    const repeated = one({
      success: true,
      turns: [call('look', 1), call('look', 1), call('look', 2), call('look', 1), { valid: false }],
    });
    expectClose(rewards('any-horizon', repeated), [[0, -0.05, 0, -0.05 * Math.SQRT2, -0.1 + 1]]);
    expectClose(rewards('any-horizon', repeated, { tools: ['look'] }), [
      [0, -0.05, 0, -0.05 * Math.SQRT2, -0.1 + 1.25],
    ]);
  });
});

describe('score', () => {
  const pair = (first: number, second: number) => one({ turns: [{ reward: first }, { reward: second }] });

  test('the second attempt is paid for its improvement', () => {
    const second = (first: number, last: number) => rewards('score', pair(first, last))[0]![1];
    expect([second(0, 1), second(1, 0), second(1, 1), second(0, 0)]).toEqual([11, -10, 1, 0]);
    expect(rewards('score', pair(1, 0.5), { stage: 1 })).toEqual([[0, 0.5]]);
  });

  test('an attempt of several turns earns their sum, and its last turn the bonus', () => {
    const turns = [{}, { reward: 0.25 }, { attempt: 1, reward: 0.5 }, { attempt: 1, reward: 0.5 }];
    expect(rewards('score', one({ turns }))).toEqual([[0, 0.25, 0.5, 0.5 + 10 * 0.75]]);
    expect(rewards('score', one({ turns }), { stage: 1 })).toEqual([[0, 0, 0.5, 0.5]]);
    // One that never came to its second attempt has no bonus.
    const both = [...one({ turns }), ...one({ id: 'b', turns: [{}, { reward: 1 }] })];
    expect(rewards('score', both)[1]).toEqual([0, 1]);
  });
});

describe('dense', () => {
  const moves = one({
    turns: [
      { dense: [0.5] },
      { dense: [0.25, 0.25], reward: 0.1 },
      { dense: [0], effectiveActions: 0 },
      { dense: [-1], effectiveActions: 1 },
    ],
  });

  test('progress is a reward of its turn, beside what the turn earned', () => {
    expectClose(rewards('dense', moves), [[0.5, 0.6, 0, -1]]);
    expectClose([outcomes('dense', moves)], [[0.1]]);
    expectClose(rewards('dense', moves, { weight: 2, still: 0.5 }), [[1, 1.1, -0.5, -2]]);
  });

  test('a turn without it is an error', () => {
    expect(() => rewards('dense', one({ turns: [{ dense: [1] }, { reward: 1 }] }))).toThrow(
      /dense needs turns\[1\]\.dense/,
    );
  });
});

describe('wmact', () => {
  const acted = (...effective: readonly number[]) =>
    effective.map((effectiveActions) => ({ effectiveActions }));

  test('one action of four bumps into a wall', () => {
    expect(outcomes('wmact', one({ outcome: 1, turns: acted(1, 0, 1, 1) }))).toEqual([0.75]);
    expect(outcomes('wmact', one({ outcome: 1, turns: [{ actionCount: 4, effectiveActions: 3 }] }))).toEqual([
      0.75,
    ]);
    expect(outcomes('wmact', one({ outcome: 1, turns: [{ actionCount: 0, effectiveActions: 0 }] }))).toEqual([
      0,
    ]);
    expect(outcomes('wmact', one({ outcome: 1, turns: [] }))).toEqual([0]);
  });

  test('from the states of the turns', () => {
    const turns = ['a', 'a', 'b', 'c'].map((anchor) => ({ anchor }));
    expect(outcomes('wmact', one({ outcome: 1, turns }))).toEqual([0.75]);
  });
});

test('mind: fewer turns earn more, and no wrong rollout beats a right one', () => {
  const rollout = (id: string, success: boolean, turns: number, more: object = {}) => ({
    groupId: 'g',
    id,
    success,
    turns: Array.from({ length: turns }, () => ({})),
    ...more,
  });
  const [short, long, endless, wrong, broken] = outcomes('mind', [
    rollout('1', true, 1),
    rollout('2', true, 4),
    rollout('3', true, 40),
    rollout('4', false, 1),
    rollout('5', true, 1, { wellFormed: false }),
  ]);
  expect([short, endless, wrong, broken]).toEqual([1.2, 1, 0, 0]);
  expect(long).toBeCloseTo(1 + 0.2 * (1 - 3 / 9), 10);
});

test('ai-search-planner: with equal utility fewer turns earn more, unless cost is ignored', () => {
  const rollouts = [1, 3].map((turns) => ({
    groupId: 'g',
    id: `${turns}`,
    outcome: 0.5,
    turns: Array.from({ length: turns }, () => ({})),
  }));
  expectClose([outcomes('ai-search-planner', rollouts, { alpha: 1 })], [[1.5, 1.3]]);
  expect(outcomes('ai-search-planner', rollouts, { alpha: 0 })).toEqual([0.5, 0.5]);
});

describe('apo', () => {
  const rollout = (mode: string, outcome: number, id: string) => ({
    groupId: 'g',
    id,
    mode,
    outcome,
    turns: [{}],
  });
  const cheap = [1, 1, 1, 0].map((outcome, index) => rollout('instant', outcome, `${index}`));

  test('an easy question: other modes earn less for success', () => {
    const rows = [...cheap, rollout('agentic', 1, 'right'), rollout('reasoning', -1, 'wrong')];
    expectClose([outcomes('apo', rows)], [[1, 1, 1, 0, 1 - 0.75 ** 2, -1]]);
  });

  test('a hard question, or one that was never tried cheaply: nothing changes', () => {
    expect(outcomes('apo', [...cheap, rollout('agentic', 1, 'x')], { tau: 0.8 })).toEqual([1, 1, 1, 0, 1]);
    expect(outcomes('apo', [rollout('agentic', 1, 'x')])).toEqual([1]);
  });
});

test('tool-penalty: calls beyond those needed cost, up to a limit', () => {
  const search = { name: 'search' };
  const called = (calls: number, more: object = {}) => ({
    groupId: 'g',
    id: `${calls}`,
    outcome: 1,
    turns: [{ calls: new Array(calls).fill(search) }, {}],
    ...more,
  });
  expectClose(
    [
      outcomes('tool-penalty', [
        called(1),
        called(3, { neededCalls: 2 }),
        called(2, { neededCalls: 4 }),
        called(9),
      ]),
    ],
    [[0.9, 0.9, 1, 0.5]],
  );
});

describe('spear-tool-bonus', () => {
  test('fades by a cosine', () => {
    expectClose([[0, 100, 200, 300].map((step) => fadingOut(step, 200))], [[1, 0.5, 0, 0]]);
    expect(Math.min(1, 0.1 * 7) * fadingOut(50, 200)).toBeCloseTo(0.5975, 4);
  });

  test('counts its steps in the state', () => {
    const { credit } = composeCredit({ method: 'reinforce', shape: { 'spear-tool-bonus': {} } });
    const rollouts = parseRollouts(
      JSON.stringify(one({ turns: [{ calls: new Array(7).fill({ name: 's' }) }] })),
      'x',
    );
    let state: CreditState = { 'spear-tool-bonus/step': 50 };
    const first = credit(rollouts, state);
    expectClose([first.credits[0]!.turnAdvantages_K], [[0.5975]]);
    state = JSON.parse(JSON.stringify(first.state)) as CreditState;
    expect(state).toEqual({ 'spear-tool-bonus/step': 51 });
    expect(credit(rollouts, { 'spear-tool-bonus/step': 200 }).credits[0]!.turnAdvantages_K).toEqual([0]);
  });
});

test('invalid-action-penalty', () => {
  const rollout = one({ turns: [{ valid: false }, { reward: 1 }] });
  expect(rewards('invalid-action-penalty', rollout)).toEqual([[-0.1, 1]]);
  expect(outcomes('invalid-action-penalty', rollout)).toEqual([0.9]);
});

test('shapings are applied in order, before any method, and the report says so', () => {
  const rollouts = parseRollouts(
    JSON.stringify([
      { groupId: 'g', id: 'a', turns: [{ valid: false }, { reward: 1 }] },
      { groupId: 'g', id: 'b', turns: [{}, {}] },
    ]),
    'x',
  );
  const report = creditReport('dr-grpo', {}, rollouts, {
    'invalid-action-penalty': { penalty: 0.5 },
    'ai-search-planner': { alpha: 0 },
  });
  expect(report.shape).toEqual({
    'invalid-action-penalty': { penalty: 0.5 },
    'ai-search-planner': { alpha: 0, maximumTurns: 10 },
  });
  expect(report.trajectories[0]).toEqual({
    id: 'a',
    groupId: 'g',
    shapedOutcome: 0.5,
    turns: [
      { advantage: 0.25, shapedReward: -0.5 },
      { advantage: 0.25, shapedReward: 1 },
    ],
  });
  expect(`\n${creditTable(report, rollouts)}\n`).toMatchInlineSnapshot(`
    "
    trajectory  turn  anchor  reward  advantage
    a              1            -0.5     0.2500          │████████
                   2               1     0.2500          │████████
    b              1               0    -0.2500  ████████│
                   2               0    -0.2500  ████████│
    "
  `);
});

test('names, and what is missing', () => {
  expect(findRewardShaping('SMART').name).toBe('tool-penalty');
  expect(new Set(rewardShapings.map(({ name }) => name)).size).toBe(rewardShapings.length);
  expect(() => findRewardShaping('ufa')).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: There is no such reward shaping. Seen: "ufa". Allowed: overlong, invalid-action-penalty, ufo, score, wmact, mind, ai-search-planner, apo, any-horizon, tool-penalty, spear-tool-bonus, exploration-bonus, novelty, dense, g-ra, e-grpo, spa-rl, cory. Did you mean "ufo"?]`,
  );
  expect(() => findRewardShaping('ufo').create({ gama: 1 })).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: Reward shaping "ufo" has no setting "gama". Allowed: gamma, lambda. Did you mean "gamma"?]`,
  );
  expect(() => outcomes('ufo', one({ turns: [{}] }))).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: ufo needs turns[0].answer, which trajectory "a" does not have. Allowed: The answer that the turn tried; an empty one does not count as a try.]`,
  );
  expect(() => outcomes('tool-penalty', one({ turns: [{}] }))).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: tool-penalty needs turns[0].calls, which trajectory "a" does not have. Allowed: Tool calls of the turn: \`[{"name": "search", "arguments": {"q": "x"}}]\`. A turn without calls has an empty list.]`,
  );
  expect(() =>
    outcomes('wmact', one({ turns: [{ effectiveActions: 1 }, {}] })),
  ).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: wmact needs turns[1].effectiveActions, which trajectory "a" does not have. Allowed: Number of them that changed the state of the environment. Or give turns[].anchor of every turn.]`,
  );
});
