/** Losses and their gradients against torch's autograd in 64 bits; tools/parity/losses.py wrote the numbers down. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { findObjective, objectives } from '../src/objective/objectives.ts';
import { evaluateStep, type TokenNumbers } from '../src/objective/testing/evaluate.ts';

interface Numbers {
  readonly rows: readonly TokenNumbers[];
  /** What some losses read besides, row by row. */
  readonly readings: Readonly<Record<string, readonly TokenNumbers[]>>;
  readonly sequences: readonly { readonly rows: readonly number[]; readonly reward: number }[];
  readonly pairs: readonly (readonly [number, number])[];
  readonly step: number;
  readonly losses: readonly {
    readonly name: string;
    readonly options: Readonly<Record<string, unknown>>;
    readonly by: readonly string[];
    readonly reads?: string;
    readonly pairs?: Numbers['pairs'];
    readonly loss: number;
    readonly gradients: readonly (readonly number[])[];
  }[];
}

const record = JSON.parse(
  readFileSync(new URL('./loss-parity/record.json', import.meta.url), 'utf8'),
) as Numbers;
const DIFFERENTIABLE = ['logprobs', 'entropies', 'values'];

/** Readings of heads as `prepare` sees them. */
function headsIn(
  rows: readonly TokenNumbers[],
  kind: 'head' | 'frozen',
): Record<string, readonly (readonly number[])[]> {
  const names = Object.keys(rows[0]!).filter((name) => name.startsWith(`${kind} `));
  return Object.fromEntries(
    names.map((name) => [name.slice(kind.length + 1), rows.map((row) => row[name]!)]),
  );
}

test.each(record.losses)(
  '$name $options',
  async ({ name, options, by, reads, pairs = record.pairs, loss, gradients }) => {
    const more = record.readings[reads ?? ''];
    const rows = record.rows.map((row, index) => ({
      ...Object.fromEntries(
        Object.entries(row).filter(
          ([key]) => by.includes(key) || key === 'logprobs' || !DIFFERENTIABLE.includes(key),
        ),
      ),
      ...more?.[index],
    }));
    const { sequences, step } = record;
    const heads = { heads: headsIn(rows, 'head'), frozenHeads: headsIn(rows, 'frozen') };
    const numbers = { rows, sequences, pairs, step, ...heads };
    const found = await evaluateStep(findObjective(name).create(options), numbers);
    expect(Math.abs(found.loss - loss) / Math.max(1, Math.abs(loss))).toBeLessThan(2e-6);
    for (const [index, field] of by.entries()) {
      const expected = gradients[index]!;
      const scale = Math.hypot(...expected) / Math.sqrt(expected.length);
      const furthest = Math.max(
        ...found.gradients[field]!.map((value, place) => Math.abs(value - expected[place]!)),
      );
      expect(furthest / scale, field).toBeLessThan(1e-5);
    }
  },
);

test('every loss has a reference', () => {
  const known = new Set(record.losses.map(({ name }) => name));
  expect(objectives.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
});
