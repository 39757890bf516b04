/** Losses and their gradients against torch's autograd in 64 bits; tools/parity/losses.py wrote the numbers down. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { findObjective } from '../src/objective/objectives.ts';
import { evaluateStep, type TokenNumbers } from '../src/objective/testing/evaluate.ts';

interface Numbers {
  readonly rows: readonly TokenNumbers[];
  readonly sequences: readonly { readonly rows: readonly number[]; readonly reward: number }[];
  readonly pairs: readonly (readonly [number, number])[];
  readonly losses: readonly {
    readonly name: string;
    readonly options: Readonly<Record<string, unknown>>;
    readonly by: string;
    readonly loss: number;
    readonly gradient: readonly number[];
  }[];
}

const { losses, ...step } = JSON.parse(
  readFileSync(new URL('./loss-parity/record.json', import.meta.url), 'utf8'),
) as Numbers;
const DIFFERENTIABLE = ['logprobs', 'entropies', 'values'];

test.each(losses)('$name $options', async ({ name, options, by, loss, gradient }) => {
  const rows = step.rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).filter(
        ([key]) => key === by || key === 'logprobs' || !DIFFERENTIABLE.includes(key),
      ),
    ),
  );
  const found = await evaluateStep(findObjective(name).create(options), { ...step, rows });
  const scale = Math.hypot(...gradient) / Math.sqrt(gradient.length);
  expect(Math.abs(found.loss - loss) / Math.max(1, Math.abs(loss))).toBeLessThan(2e-6);
  const furthest = Math.max(
    ...found.gradients[by]!.map((value, index) => Math.abs(value - gradient[index]!)),
  );
  expect(furthest / scale).toBeLessThan(1e-5);
});
