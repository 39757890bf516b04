/** The worked numbers of the algorithm reference for methods that look at branches, roles and entropies. */

import { describe, expect, test } from 'vitest';
import { preferencePairs } from './methods/roles/malt.ts';
import { parseRollouts } from './report/node/read-rollouts.ts';
import { advantages, expectClose, half, rewards, tokens } from './testing/worked.test-helper.ts';

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
