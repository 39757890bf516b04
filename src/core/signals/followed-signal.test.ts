import { expect, test } from 'vitest';
import { followSignals } from './followed-signal.ts';

test('a signal is aborted with the first of several, with its reason', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const { signal } = followSignals([one.signal, other.signal]);
  expect(signal.aborted).toBe(false);
  other.abort('enough');
  one.abort('too late');
  expect([signal.aborted, signal.reason]).toEqual([true, 'enough']);
});

test('one that follows what was aborted before is aborted at once', () => {
  const { signal } = followSignals([new AbortController().signal, AbortSignal.abort('over')]);
  expect(signal.reason).toBe('over');
});

test('a released one is left alone, and nothing of it stays behind', () => {
  const long = new AbortController();
  const { signal, release } = followSignals([long.signal]);
  release();
  long.abort();
  expect(signal.aborted).toBe(false);
});
