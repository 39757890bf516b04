import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { creditMethods, findCreditMethod } from './methods.ts';
import type { CreditTrajectory } from './report/rollouts.ts';
import { rewardShapings } from './shaping/shapings.ts';
import { batch, expectClose, flat, run, single } from './testing/batches.test-helper.ts';

fc.configureGlobal({ ...fc.readConfigureGlobal(), numRuns: 40 });

describe.each(creditMethods)('$name', ({ level, create }) => {
  test('is shaped like its input, finite, repeatable, and leaves its input alone', () => {
    fc.assert(
      fc.property(batch, (trajectories) => {
        const before = structuredClone(trajectories);
        const state = Object.freeze({ 'rae//agent': 0.5 });
        const { credit } = create();
        const result = credit(trajectories, state);
        expect(trajectories).toEqual(before);
        expect(credit(trajectories, state)).toEqual(result);
        expect(result.credits.map(({ id }) => id)).toEqual(trajectories.map(({ id }) => id));
        for (const [index, given] of result.credits.entries()) {
          const { turns } = trajectories[index]!;
          expect(given.turnAdvantages_K.length).toBe(turns.length);
          expect(given.tokenAdvantages_T?.length).toBe(
            level === 'token' ? turns.reduce((sum, { tokens }) => sum + tokens, 0) : undefined,
          );
          expect(flat(given).every(Number.isFinite)).toBe(true);
        }
      }),
    );
  });

  const good: CreditTrajectory = { id: 'good', groupId: 'g', role: 'agent', outcome: 1, turns: [] };
  const turn = {
    reward: 0,
    tokens: 1,
    anchor: 'a',
    values: [0],
    entropies: [0],
    teacherGaps: [0],
    value: 0,
    answerProbability: 1,
    labelCorrect: true,
  };
  const run = (bad: Partial<CreditTrajectory>) => () =>
    create().credit([good, { ...good, entityShare: 0, id: 'bad', ...bad }], {});

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'names the place of %s',
    (bad) => {
      expect(run({ turns: [{ ...turn, reward: bad }] })).toThrow('turns[0].reward of trajectory "bad"');
      expect(run({ turns: [turn, { ...turn, values: [bad] }] })).toThrow(
        'turns[1].values[0] of trajectory "bad"',
      );
      expect(run({ turns: [{ ...turn, entropies: [bad] }] })).toThrow(
        'turns[0].entropies[0] of trajectory "bad"',
      );
      expect(run({ outcome: bad })).toThrow('outcome of trajectory "bad"');
      expect(run({ entityShare: bad })).toThrow('entityShare of trajectory "bad"');
    },
  );

  test('handles nothing, one turn of one rollout, a row without sampled tokens, and ties', () => {
    const { credit } = create();
    expect(credit([], {}).credits).toEqual([]);
    const row = (id: string, outcome: number, turns: readonly object[]): CreditTrajectory => ({
      ...good,
      id,
      outcome,
      entityShare: 0.5,
      turns: turns.map((own) => ({ ...turn, dense: [0], ...own })),
    });
    const unsampled = { tokens: 0, values: [], entropies: [], teacherGaps: [] };
    const batches = [
      [row('a', 1, [{}])],
      [row('a', 1, [{}, {}, {}])],
      [row('a', 1, [unsampled, unsampled]), row('b', 0, [{}])],
      [row('a', 1, [{}]), row('b', 1, [{}]), row('c', 1, [{}, {}])],
      [row('a', 1, []), row('b', 0, [])],
    ];
    for (const trajectories of batches) {
      const { credits } = credit(trajectories, {});
      expect(credits.map(({ turnAdvantages_K }) => turnAdvantages_K.length)).toEqual(
        trajectories.map(({ turns }) => turns.length),
      );
      expect(credits.flatMap(flat).every(Number.isFinite)).toBe(true);
    }
  });
});

const orderFree = creditMethods.map(({ name }) => name).filter((name) => name !== 'rae');

test.each(orderFree)('%s: permuting trajectories permutes advantages', (name) => {
  fc.assert(
    fc.property(batch, fc.infiniteStream(fc.nat()), (trajectories, keys) => {
      const ranked = trajectories.map((trajectory) => ({ trajectory, key: keys.next().value! }));
      const permuted = ranked.sort((a, b) => a.key - b.key).map(({ trajectory }) => trajectory);
      const original = new Map(run(name, trajectories).map((credit) => [credit.id, flat(credit)]));
      for (const credit of run(name, permuted)) expectClose(flat(credit), original.get(credit.id)!);
    }),
  );
});

const comparesOutcomes = [
  'grpo',
  'rloo',
  'dr-grpo',
  'dapo',
  'arpo',
  'tree-grpo',
  'spear',
  'step-grpo',
  'g-ra',
];

test.each([...comparesOutcomes, 'e-grpo'])('%s: advantages of a group sum to 0', (name) => {
  fc.assert(
    fc.property(single, (trajectories) => {
      const sums = new Map<string, number>();
      for (const [index, { turnAdvantages_K }] of run(name, trajectories).entries()) {
        const key = `${trajectories[index]!.groupId} ${trajectories[index]!.role}`;
        sums.set(key, (sums.get(key) ?? 0) + turnAdvantages_K[0]!);
      }
      for (const sum of sums.values()) expect(Math.abs(sum)).toBeLessThan(1e-6);
    }),
  );
});

test.each(comparesOutcomes)('%s: adding a constant to every outcome changes nothing', (name) => {
  fc.assert(
    fc.property(single, fc.integer({ min: -8, max: 8 }), (trajectories, constant) => {
      const shifted = trajectories.map((row) => ({ ...row, outcome: row.outcome + constant }));
      expectClose(run(name, shifted).flatMap(flat), run(name, trajectories).flatMap(flat));
    }),
  );
});

/** Divided by a standard deviation, a change of units cancels; otherwise it stays. */
const units: readonly (readonly [string, object, 0 | 1])[] = [
  ['grpo', {}, 0],
  ['dapo', {}, 0],
  ['arpo', {}, 0],
  ['tree-grpo', {}, 0],
  ['step-grpo', {}, 0],
  ['g-ra', { gated: false }, 0],
  ['rloo', {}, 1],
  ['dr-grpo', {}, 1],
  ['spear', {}, 1],
  ['reinforce', {}, 1],
  ['mars', {}, 1],
];

test.each(units)(
  '%s %o: other units of reward give the same advantages, times the unit to the power %i',
  (name, options, power) => {
    const whole = fc.integer({ min: -5, max: 5 });
    fc.assert(
      fc.property(fc.array(whole, { maxLength: 6 }), fc.constantFrom(2, 3, 10), (outcomes, unit) => {
        const rows = (scale: number): CreditTrajectory[] =>
          outcomes.map((outcome, index) => ({
            id: `${index}`,
            groupId: 'g',
            role: 'agent',
            outcome: outcome * scale,
            turns: [{ reward: 0, tokens: 1 }],
          }));
        const before = run(name, rows(1), options).flatMap(flat);
        const after = run(name, rows(unit), options).flatMap(flat);
        for (const [index, value] of before.entries()) {
          expect(Math.abs(after[index]! - value * unit ** power)).toBeLessThan(1e-4 * (1 + Math.abs(value)));
        }
      }),
    );
  },
);

describe.each(rewardShapings)('shaping $name', ({ create }) => {
  const complete = batch.map((rows) =>
    rows.map((row) => ({
      ...row,
      turns: row.turns.map((turn) => ({
        ...turn,
        progress: turn.value!,
        effectiveActions: turn.valid ? 1 : 0,
      })),
    })),
  );

  test('keeps trajectories and turns, leaves its input alone, and gives finite rewards', () => {
    fc.assert(
      fc.property(complete, (trajectories) => {
        const before = structuredClone(trajectories);
        const { shape } = create();
        const shaped = shape(trajectories, Object.freeze({}));
        expect(trajectories).toEqual(before);
        expect(shape(trajectories, Object.freeze({}))).toEqual(shaped);
        expect(JSON.parse(JSON.stringify(shaped.state))).toEqual(shaped.state);
        expect(shaped.trajectories.map(({ id, turns }) => [id, turns.length])).toEqual(
          trajectories.map(({ id, turns }) => [id, turns.length]),
        );
        for (const { outcome, turns } of shaped.trajectories) {
          expect([outcome, ...turns.map(({ reward }) => reward)].every(Number.isFinite)).toBe(true);
        }
      }),
    );
  });
});

test.each(orderFree)('%s: inserting observation tokens changes nothing', (name) => {
  fc.assert(
    fc.property(batch, fc.nat({ max: 3 }), (trajectories, count) => {
      const inserted = trajectories.map((row) => ({
        ...row,
        turns: row.turns.map((one) => ({
          ...one,
          mask: [...new Array<number>(count).fill(0), ...new Array<number>(one.tokens).fill(1), 0],
        })),
      }));
      expect(run(name, inserted)).toEqual(run(name, trajectories));
    }),
  );
});

test('the reward of a turn without sampled tokens reaches the tokens before it', () => {
  const turns = [
    { reward: 0, tokens: 2, values: [0, 0] },
    { reward: 1, tokens: 0, values: [] },
  ];
  const [credit] = run('gae', [{ id: 'a', groupId: 'g', role: 'agent', outcome: 1, turns }], {
    whiten: false,
  });
  expect(credit).toEqual({
    id: 'a',
    turnAdvantages_K: [0.975, 0],
    tokenAdvantages_T: Float64Array.of(0.95, 1),
    returns_T: Float64Array.of(0.95, 1),
  });
});

test('gae: γ = λ = 1 without values is return-to-go, as reinforce++', () => {
  fc.assert(
    fc.property(batch, (trajectories) => {
      const blind = trajectories.map((row) => ({
        ...row,
        turns: row.turns.map((one) => ({ ...one, values: one.values!.map(() => 0) })),
      }));
      const options = { gamma: 1, whiten: false };
      expectClose(
        run('gae', blind, { ...options, lambda: 1 }).flatMap(flat),
        run('reinforce++', blind, options).flatMap(flat),
      );
    }),
  );
});

test('gae: advantages and targets have a λ each, and that of advantages may grow with the episode', () => {
  // δ = [−0.5, 0.5, 0.5] of three tokens: λ = 1 − 1 / (0.5 · 3) = 1/3.
  const turns = [
    { reward: 0, tokens: 2, values: [0.5, 0] },
    { reward: 1, tokens: 1, values: [0.5] },
  ];
  const one: CreditTrajectory[] = [{ id: 'a', groupId: 'g', role: 'agent', outcome: 1, turns }];
  const [credit] = run('gae', one, { gamma: 1, lengthAlpha: 0.5, decoupled: true, whiten: false });
  const [first, second, third] = credit!.tokenAdvantages_T!;
  expect([first, second, third]).toEqual([
    expect.closeTo(-0.5 + (0.5 + 0.5 / 3) / 3, 12),
    expect.closeTo(0.5 + 0.5 / 3, 12),
    0.5,
  ]);
  expect([...credit!.returns_T!]).toEqual([1, 1, 1]);
  // Too short for a λ of its own: one step.
  const [short] = run('gae', one, { gamma: 1, lengthAlpha: 0.1, whiten: false });
  expect([...short!.tokenAdvantages_T!]).toEqual([-0.5, 0.5, 0.5]);
  fc.assert(
    fc.property(batch, (trajectories) => {
      const options = { gamma: 0.9, whiten: false };
      const decoupled = run('gae', trajectories, { ...options, lambda: 0.5, decoupled: true });
      const targets = run('gae', trajectories, { ...options, lambda: 1 });
      const advantages = run('gae', trajectories, { ...options, lambda: 0.5 });
      expect(decoupled.map(({ returns_T }) => returns_T)).toEqual(targets.map(({ returns_T }) => returns_T));
      expect(decoupled.map(flat)).toEqual(advantages.map(flat));
    }),
  );
});

test('rae carries its baselines from call to call', () => {
  const { credit } = findCreditMethod('rae').create();
  const games = [1, 1, -1, 1].map(
    (outcome, index): CreditTrajectory => ({
      id: `g${index}`,
      groupId: 'g',
      role: 'first',
      game: 'kuhn-poker',
      outcome,
      turns: [{ reward: 0, tokens: 1 }],
    }),
  );
  const whole = credit(games, {});
  const first = credit(games.slice(0, 2), {});
  const second = credit(games.slice(2), first.state);
  expect([...first.credits, ...second.credits]).toEqual(whole.credits);
  expect(second.state).toEqual(whole.state);
  expect(whole.state['rae/kuhn-poker/first']).toBeCloseTo(0.0905, 4);
});
