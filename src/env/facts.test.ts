import { expect, test } from 'vitest';
import { parseFacts } from './facts.ts';

test('facts come back as plain fields, short forms written out', () => {
  expect(
    parseFacts({ dense: 0.5, calls: [{ name: 'open' }], neededCalls: 2, correct: true }, 'step()'),
  ).toEqual({ dense: [0.5], calls: [{ name: 'open', arguments: {} }], neededCalls: 2, correct: true });
  expect(parseFacts({}, 'step()')).toEqual({});
});

test('facts that no method knows, or whose sums would overflow, are refused', () => {
  expect(() => parseFacts({ progres: 1 }, 'step()')).toThrow(
    /^step\(\) has no setting "info\.credit\.progres"\. .* Did you mean "info\.credit\.progress"\?$/,
  );
  expect(() => parseFacts({ progress: 1e308 }, 'step()')).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: step() cannot use this value of "info.credit.progress". Seen: 1e+308. Allowed: a number <= 1000000000000.]`,
  );
  expect(() => parseFacts(null, 'step()')).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: step() cannot use this value of "info.credit". Seen: null. Allowed: object.]`,
  );
});
