import { expect, test } from 'vitest';
import { z } from 'zod';
import { parseStrict } from './parse-strict.ts';

const schema = z.strictObject({
  steps: z.int().min(0).default(3),
  model: z.strictObject({ width: z.number().default(8), layers: z.number().default(1) }).prefault({}),
});
const parse = (value: unknown, path: string[] = []) => parseStrict(schema, value, 'A run', path);

test('fills in defaults at every depth', () => {
  expect(parse({ model: { width: 4 } })).toEqual({ steps: 3, model: { width: 4, layers: 1 } });
});

test('an unknown key is an error with its whole path and the nearest one', () => {
  expect(() => parse({ step: 1 })).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: A run has no setting "step". Allowed: steps, model. Did you mean "steps"?]`,
  );
  expect(() => parse({ model: { witdh: 4 } }, ['environment'])).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: A run has no setting "environment.model.witdh". Allowed: environment.model.width, environment.model.layers. Did you mean "environment.model.width"?]`,
  );
  expect(() => parse({ chessboard: 4 })).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: A run has no setting "chessboard". Allowed: steps, model.]`,
  );
});

test('a bad value is an error that says what was seen and what is allowed', () => {
  expect(() => parse({ steps: -1 })).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: A run cannot use this value of "steps". Seen: -1. Allowed: a number >= 0.]`,
  );
  expect(() => parse({ model: { width: 'wide' } })).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: A run cannot use this value of "model.width". Seen: "wide". Allowed: number.]`,
  );
  expect(() => parse('all')).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: A run cannot use these settings. Seen: "all". Allowed: object.]`,
  );
});
