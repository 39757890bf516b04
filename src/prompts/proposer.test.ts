/** Proposers of users: who they say they are, and what becomes of those that never answer. */

import { afterEach, expect, test, vi } from 'vitest';
import { user } from '../core/messages.ts';
import { defineProposer, type ProposerDefinition } from './proposer.ts';

afterEach(() => {
  vi.useRealTimers();
});

const ask = (propose: ProposerDefinition['propose'], signal = new AbortController().signal) =>
  defineProposer({ name: 'scribe', propose }).create()([user('improve')], { step: 1, call: 0, signal });

test('an answer has the name of the proposer, or the one that it gives itself', async () => {
  expect(await ask(() => 'Look.')).toEqual({ text: 'Look.', by: 'scribe' });
  expect(await ask(async () => ({ text: 'Look.', by: 'big@host' }))).toEqual({
    text: 'Look.',
    by: 'big@host',
  });
  for (const odd of [undefined, null, 7, { text: 7, by: 'big' }, { text: 'Look.', by: 7 }])
    await expect(ask(() => odd as never)).rejects.toThrow(
      'Proposer "scribe" proposed something that is no text',
    );
  await expect(
    ask(() => {
      throw new Error('busy');
    }),
  ).rejects.toThrow('Proposer "scribe" threw an error');
});

test('one that never answers is given up after five minutes, and its signal is aborted', async () => {
  vi.useFakeTimers();
  let given: AbortSignal | undefined;
  const answer = ask((_, { signal }) => {
    given = signal;
    return new Promise(() => {});
  });
  const failed = expect(answer).rejects.toThrow(
    'Proposer "scribe" gave no answer. Seen: nothing within 300000 ms. Have it heed `signal`, and answer sooner.',
  );
  await vi.advanceTimersByTimeAsync(299_999);
  expect(given!.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await failed;
  expect(given!.aborted).toBe(true);
});

test('a run that stops does not wait for it', async () => {
  const run = new AbortController();
  const answer = ask(() => new Promise(() => {}), run.signal);
  run.abort(new Error('stopped'));
  await expect(answer).rejects.toThrow('stopped');
});
