/** Sources of prompts whose `tell` never comes back: given up after a while, and at once where the run stops. */

import { afterEach, expect, test, vi } from 'vitest';
import { Rng } from '../core/rng.ts';
import { definePrompts, type PromptSource } from './prompt-source.ts';
import type { Propose } from './proposer.ts';

afterEach(() => {
  vi.useRealTimers();
});

type Tell = NonNullable<PromptSource<Record<never, never>, null>['tell']>;

const never = new Promise<null>(() => {});
const nobody: Propose = async () => undefined;
const tellBy = (tell: Tell, more: { propose?: Propose; signal?: AbortSignal } = {}) =>
  definePrompts({
    name: 'slow',
    summary: '',
    ask: () => '',
    best: () => '',
    start: () => null,
    tell,
  }).create().tell!([], { step: 1, memory: null, rng: Rng.of('test'), propose: nobody, ...more });

test('it is given up after five minutes of its own, with the name of the source', async () => {
  vi.useFakeTimers();
  const failed = expect(tellBy(() => never)).rejects.toThrow(
    'Source of prompts "slow" did not come back from `tell`. Seen: nothing within 300000 ms',
  );
  await vi.advanceTimersByTimeAsync(300_000);
  await failed;
});

test('what a proposer takes is not its time', async () => {
  vi.useFakeTimers();
  const propose: Propose = () => new Promise((resolve) => setTimeout(() => resolve('Look.'), 200_000));
  const told = tellBy(
    async (_groups, { propose }) => {
      await propose([]);
      await propose([]);
      return null;
    },
    { propose },
  );
  await vi.advanceTimersByTimeAsync(400_000);
  expect(await told).toBeNull();
});

test('a run that stops does not wait for it', async () => {
  const run = new AbortController();
  const told = tellBy(() => never, { signal: run.signal });
  run.abort(new Error('stopped'));
  await expect(told).rejects.toThrow('stopped');
});
