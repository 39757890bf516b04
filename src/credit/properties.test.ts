import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { creditMethods, findCreditMethod } from './methods.ts';
import type { CreditTrajectory, CreditTurn, TrajectoryCredit } from './rollouts.ts';

const number = fc.double({ min: -10, max: 10, noNaN: true });

const turn = fc
  .record({
    reward: number,
    anchor: fc.constantFrom('a', 'b', 'c'),
    values: fc.array(number, { maxLength: 3 }),
  })
  .map(({ reward, anchor, values }): CreditTurn => ({ reward, anchor, values, tokens: values.length }));

/** Batches with groups of one, ties, empty trajectories and turns without tokens among them. */
const batch = fc
  .array(
    fc.record({
      groupId: fc.constantFrom('g', 'h', 'i'),
      role: fc.constantFrom('agent', 'opponent'),
      outcome: fc.oneof(fc.constantFrom(0, 1), number),
      turns: fc.array(turn, { maxLength: 4 }),
    }),
    { maxLength: 8 },
  )
  .map((rows) => rows.map((row, index): CreditTrajectory => ({ ...row, id: `t${index}` })));

function run(
  name: string,
  trajectories: readonly CreditTrajectory[],
  options: object = {},
): TrajectoryCredit[] {
  return [...findCreditMethod(name).create(options).credit(trajectories, {}).credits];
}

function flat(credit: TrajectoryCredit): number[] {
  return [...credit.turnAdvantages_K, ...(credit.tokenAdvantages_K_T ?? []).flat()];
}

function expectClose(actual: readonly number[], expected: readonly number[]): void {
  expect(actual.length).toBe(expected.length);
  for (const [index, value] of expected.entries()) {
    expect(Math.abs(actual[index]! - value)).toBeLessThan(1e-6 * (1 + Math.abs(value)));
  }
}

describe.each(creditMethods)('$name', ({ name, level, create }) => {
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
          expect(given.tokenAdvantages_K_T?.map((tokens_T) => tokens_T.length)).toEqual(
            level === 'token' ? turns.map(({ tokens }) => tokens) : undefined,
          );
          expect(flat(given).every(Number.isFinite)).toBe(true);
        }
      }),
    );
  });

  test('names the trajectory that holds a number which is not finite', () => {
    const good: CreditTrajectory = { id: 'good', groupId: 'g', role: 'agent', outcome: 1, turns: [] };
    const badReward = {
      ...good,
      id: 'bad',
      turns: [{ reward: Number.NaN, tokens: 1, anchor: 'a', values: [0] }],
    };
    expect(() => run(name, [good, badReward])).toThrow('turns[0].reward of trajectory "bad"');
    expect(() => run(name, [good, { ...good, id: 'bad', outcome: Number.POSITIVE_INFINITY }])).toThrow(
      'outcome of trajectory "bad"',
    );
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

/** One advantage for each trajectory, through one turn each. */
const single = batch.map((rows) => rows.map((row) => ({ ...row, turns: [{ reward: 0, tokens: 1 }] })));

test.each(['grpo', 'rloo', 'dr-grpo'])('%s: advantages of a group sum to 0', (name) => {
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

test.each(['grpo', 'rloo', 'dr-grpo'])('%s: adding a constant to every outcome changes nothing', (name) => {
  fc.assert(
    fc.property(single, fc.integer({ min: -8, max: 8 }), (trajectories, constant) => {
      const shifted = trajectories.map((row) => ({ ...row, outcome: row.outcome + constant }));
      const expected = run(name, trajectories).flatMap(flat);
      expectClose(run(name, shifted).flatMap(flat), expected);
    }),
  );
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
    tokenAdvantages_K_T: [[0.95, 1], []],
    returns_K_T: [[0.95, 1], []],
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
