/** Random batches that every method can work with, and ways to run a method on them. */

import fc from 'fast-check';
import { expect } from 'vitest';
import { findCreditMethod } from '../methods.ts';
import type { CreditTrajectory, CreditTurn, ToolCall, TrajectoryCredit } from '../report/rollouts.ts';

// Multiples of 1/64: scores that differ by a rounding error have no spread, and a shift may remove or make such a difference.
const number = fc.integer({ min: -640, max: 640 }).map((n) => n / 64);
const share = fc.integer({ min: 0, max: 64 }).map((n) => n / 64);

const call = fc.record({
  name: fc.constantFrom('search', 'open'),
  arguments: fc.dictionary(fc.constantFrom('q', 'n'), fc.constantFrom(1, 2), { maxKeys: 2 }),
}) as fc.Arbitrary<ToolCall>;

const turn = fc
  .record({
    reward: fc.oneof(fc.constantFrom(0, 1), number),
    anchor: fc.constantFrom('a', 'b', 'c'),
    values: fc.array(number, { maxLength: 3 }),
    value: number,
    entropy: share,
    dense: fc.array(number, { maxLength: 2 }),
    valid: fc.boolean(),
    answerProbability: share,
    calls: fc.array(call, { maxLength: 2 }),
    answer: fc.constantFrom('', 'x', 'y'),
    labelCorrect: fc.boolean(),
  })
  .map(
    ({ entropy, ...rest }): CreditTurn => ({
      ...rest,
      tokens: rest.values.length,
      entropies: rest.values.map((_, t) => (entropy * (t + 1)) / 3),
      teacherGaps: rest.values.map((value) => value / 64),
    }),
  );

/** Batches with groups of one, ties, branches, empty trajectories and turns without tokens among them. */
export const batch: fc.Arbitrary<CreditTrajectory[]> = fc
  .array(
    fc.record({
      groupId: fc.constantFrom('g', 'h', 'i'),
      role: fc.constantFrom('agent', 'opponent'),
      outcome: fc.oneof(fc.constantFrom(0, 1), number),
      turns: fc.array(turn, { maxLength: 4 }),
      entityShare: share,
      goldenCalls: fc.array(call, { maxLength: 3 }),
      mode: fc.constantFrom('instant', 'agentic'),
      branch: fc.boolean(),
    }),
    { maxLength: 8 },
  )
  .map((rows) =>
    rows.map(
      ({ branch, ...row }, index): CreditTrajectory => ({
        ...row,
        id: `t${index}`,
        ...(branch && index > 0
          ? { parent: `t${index - 1}`, sharedTurns: Math.min(1, row.turns.length) }
          : {}),
      }),
    ),
  );

/** Batches in which every trajectory has one turn of one token, so that it has one advantage. */
export const single: fc.Arbitrary<CreditTrajectory[]> = batch.map((rows) =>
  rows.map(({ parent: _parent, sharedTurns: _shared, ...row }) => ({
    ...row,
    turns: [{ reward: 0, tokens: 1, anchor: 's', values: [0], value: 0, entropies: [0], teacherGaps: [0] }],
  })),
);

export function run(
  name: string,
  trajectories: readonly CreditTrajectory[],
  options: object = {},
): TrajectoryCredit[] {
  return [...findCreditMethod(name).create(options).credit(trajectories, {}).credits];
}

/** All numbers of a credit. */
export function flat(credit: TrajectoryCredit): number[] {
  return [...credit.turnAdvantages_K, ...(credit.tokenAdvantages_T ?? [])];
}

export function expectClose(actual: readonly number[], expected: readonly number[]): void {
  expect(actual.length).toBe(expected.length);
  for (const [index, value] of expected.entries()) {
    expect(Math.abs(actual[index]! - value)).toBeLessThan(1e-6 * (1 + Math.abs(value)));
  }
}
