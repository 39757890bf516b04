import { expect, test } from 'vitest';
import { brake } from './brake.ts';

const options = { limit: 3, next: 'Start the server again, then continue with: turnwise resume first' };
const none = new Map<string, number>();
const failed = {
  episodes: 16,
  failed: 16,
  failures: new Map([
    ['timeout: a', 3],
    ['failed:environment: b', 13],
  ]),
};

test('the third step in a row in which everything failed ends the run', () => {
  const first = brake(0, failed, options);
  const second = brake(first, failed, options);
  expect([first, second]).toEqual([1, 2]);
  expect(() => brake(second, failed, options)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: Every episode of 3 steps in a row failed. Seen: 13 × failed:environment: b in the last step, of 16 episodes. Allowed: fewer than 3 such steps (rollout.failureLimit). Start the server again, then continue with: turnwise resume first.]`,
  );
});

test('one episode that worked releases it; a step that plays nothing changes nothing', () => {
  expect(brake(2, { ...failed, failed: 15 }, options)).toBe(0);
  expect(brake(2, { episodes: 0, failed: 0, failures: none }, options)).toBe(2);
});

test('a limit of 1 stops at once, a limit of 0 never', () => {
  expect(() => brake(0, { episodes: 4, failed: 4, failures: none }, { ...options, limit: 1 })).toThrow(
    /^Every episode of a step failed\. Seen: 4 episodes without a turn in the last step\./,
  );
  expect(brake(99, failed, { ...options, limit: 0 })).toBe(100);
});
