/** Advantages of random rollouts against references in numpy; tools/parity/credit.py wrote the numbers down. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { creditMethods, findCreditMethod } from '../src/credit/methods.ts';
import type { CreditTrajectory } from '../src/credit/report/rollouts.ts';

type Rows = readonly (readonly number[])[];
interface Numbers {
  readonly rollouts: readonly CreditTrajectory[];
  readonly games: readonly CreditTrajectory[];
  readonly cases: readonly {
    readonly name: string;
    readonly options: Readonly<Record<string, unknown>>;
    readonly on: 'rollouts' | 'games';
    readonly turns?: Rows;
    readonly tokens?: Rows;
    readonly returns?: Rows;
  }[];
}

const record = JSON.parse(
  readFileSync(new URL('./credit-parity/record.json', import.meta.url), 'utf8'),
) as Numbers;

function expectRows(found: readonly ArrayLike<number>[], expected: Rows): void {
  expect(found.map(({ length }) => length)).toEqual(expected.map(({ length }) => length));
  const distances = expected.flatMap((row, i) => row.map((value, k) => Math.abs(value - found[i]![k]!)));
  expect(Math.max(...distances)).toBeLessThan(1e-12);
}

test.each(record.cases)('$name $options', ({ name, options, on, turns, tokens, returns }) => {
  const { credits } = findCreditMethod(name).create(options).credit(record[on], {});
  if (turns)
    expectRows(
      credits.map((credit) => credit.turnAdvantages_K),
      turns,
    );
  if (tokens)
    expectRows(
      credits.map((credit) => credit.tokenAdvantages_T!),
      tokens,
    );
  if (returns)
    expectRows(
      credits.map((credit) => credit.returns_T!),
      returns,
    );
});

test('every method has a reference', () => {
  const known = new Set(record.cases.map(({ name }) => name));
  expect(creditMethods.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
});
