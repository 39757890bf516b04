/** Worked numbers, computed as a user would: a rollout file in, a report out. */

import { expect } from 'vitest';
import { parseRollouts } from '../report/node/read-rollouts.ts';
import { creditReport, type TrajectoryReport, type TurnReport } from '../report/report.ts';

export function trajectoriesOf(
  method: string,
  rollouts: readonly object[],
  options: object = {},
  shape: Readonly<Record<string, unknown>> = {},
): readonly TrajectoryReport[] {
  const stored = parseRollouts(JSON.stringify(rollouts), 'rollouts.json');
  return creditReport(method, options, stored, shape).trajectories;
}

/** One trajectory per list of turns, all in one group. */
export const group = (...turns: readonly (readonly object[])[]): object[] =>
  turns.map((own, index) => ({ groupId: 'g', id: `τ${index + 1}`, turns: own }));

export const rewards = (...lists: readonly (readonly number[])[]): object[] =>
  group(...lists.map((list) => list.map((reward) => ({ reward }))));

export const half = Math.SQRT1_2;

type Input = Parameters<typeof trajectoriesOf>;

const turnsOf = (input: Input): readonly TurnReport[][] =>
  trajectoriesOf(...input).map(({ turns }) => [...turns]);

/** One advantage per turn. */
export const advantages = (...input: Input): number[][] =>
  turnsOf(input).map((turns) => turns.map((turn) => turn.advantage));

/** One advantage per sampled token. */
export const tokens = (...input: Input): number[][] =>
  turnsOf(input).map((turns) => turns.flatMap((turn) => turn.tokens ?? []));

/** The rewards that the method computed with. */
export const shapedRewards = (...input: Input): number[][] =>
  turnsOf(input).map((turns) => turns.map((turn) => turn.shapedReward!));

export function expectClose(
  actual: readonly (readonly number[])[],
  expected: readonly (readonly number[])[],
): void {
  expect(actual.map((row) => row.length)).toEqual(expected.map((row) => row.length));
  for (const [index, row] of expected.entries()) {
    for (const [position, value] of row.entries()) {
      expect(Math.abs(actual[index]![position]! - value), `[${index}][${position}]`).toBeLessThan(1e-4);
    }
  }
}
