/** What a file says is learned behind the prompts that a run would have had, in every context. */

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Call, Episode } from '../../core/episode.ts';
import { promptOf } from '../../core/sample.ts';
import { full, latest } from '../../rollout/context/contexts.ts';
import { lastTurns } from '../../rollout/context/last-turns.ts';
import { play, player, renderer } from '../../rollout/context/searching.test-helper.ts';
import { type ContextStrategy, defineContext } from '../../rollout/context/strategy.ts';
import { summary } from '../../rollout/context/summary.ts';
import { unwatched } from '../../rollout/watch.ts';
import { asRead, type Reader } from './in-context.ts';

/** As a file says it: words, and nobody's prompts. */
async function recorded(): Promise<Episode> {
  const { calls, ...rest } = await play(full, {}, player().policy);
  const none = { context: new Int32Array(), ids: new Int32Array(), logprobs: new Float32Array() };
  return { ...rest, calls: calls.map((call) => ({ ...call, ...none })) };
}

const readerWith = (strategy: ContextStrategy, options: object, contextLength = 200): Reader =>
  ({
    renderer,
    context: strategy.create(options),
    engine: { capabilities: { contextLength } },
    world: { maxTurns: 12 },
    config: { seed: 1, rollout: { maxTurns: 0, turnTimeoutMs: 500 } },
    watch: unwatched,
  }) as unknown as Reader;

const linksOf = (calls: readonly Call[]) =>
  calls.map((call) => {
    const { id, parent, kept, newPath, parts, ids } = call;
    return { id, parent, kept, newPath, parts, ids, prompt: promptOf(call, calls) };
  });

describe('a recorded conversation is read as it would have been played', () => {
  test.each([
    ['full', full, {}],
    ['latest', latest, {}],
    ['the latest turn', lastTurns, { turns: 1 }],
    ['three turns that go one by one', lastTurns, { turns: 3, every: 1 }],
    ['windows of 14 tokens', lastTurns, { turns: 20, tokens: 14 }],
    ['summaries that are not needed', summary, { threshold: 100 }],
  ])('%s', async (_, strategy, options) => {
    const played = await play(strategy, options, player().policy);
    const { read, asked } = await asRead(await recorded(), readerWith(strategy, options));
    expect(asked).toBe(false);
    expect(linksOf(read!.calls)).toEqual(linksOf(played.calls));
    expect(read!.transitions.map(({ rewards }) => rewards)).toEqual(
      played.transitions.map(({ rewards }) => rewards),
    );
  });
});

test('what somebody read in a context of their own is read as it was', async () => {
  const played = await play(lastTurns, { turns: 3, every: 1 }, player().policy);
  const { read } = await asRead(played, readerWith(latest, {}));
  expect(linksOf(read!.calls)).toEqual(linksOf(played.calls));
});

test('where a context asks for what the record does not have, all is read', async () => {
  const whole = await asRead(await recorded(), readerWith(full, {}));
  const { read, asked } = await asRead(await recorded(), readerWith(summary, { threshold: 14 }));
  expect(asked).toBe(true);
  expect(linksOf(read!.calls)).toEqual(linksOf(whole.read!.calls));
});

/** All that was said, and as if it were not: prompts grow until they do not fit. */
const growing = defineContext({
  name: 'growing',
  summary: 'everything that was said',
  options: z.strictObject({}),
  start: () => null,
  window: ({ calls, fresh, state }) => ({
    conversation: { ...(calls.length > 0 && { goesOn: true }), parts: fresh },
    state,
  }),
});

test('it ends at the last turn that fits, which has the rewards of those that are gone', async () => {
  // The first prompt has two tokens, and each turn four more, with its answer of two.
  const { read } = await asRead(await recorded(), readerWith(growing, {}, 12));
  expect(read!.stop).toBe('early-stop');
  expect(read!.calls.length).toBeLessThan(7);
  const paid = read!.transitions.map(({ rewards }) => rewards.agent ?? 0);
  expect(paid.reduce((sum, reward) => sum + reward, 0)).toBe(1);
  expect((await asRead(await recorded(), readerWith(latest, {}, 3))).read).toBeUndefined();
});

/** As one who writes a token more than its text is encoded to. */
async function sampled(): Promise<Episode> {
  const { calls, ...rest } = await play(full, {}, player().policy);
  const odd = (call: Call) => ({ ...call, ids: Int32Array.of(...call.ids, 3), entropy: 1 });
  return { ...rest, calls: calls.map(odd) };
}

test('ids of the same tokenizer are those of the answers, behind the prompts of the context', async () => {
  const episode = await sampled();
  const ids = episode.calls.map((call) => [...call.ids]);
  const whole = await asRead(episode, readerWith(full, {}), true);
  expect(whole.read).toBe(episode);
  const { read } = await asRead(episode, readerWith(latest, {}), true);
  expect(read!.calls.map((call) => [...call.ids])).toEqual(ids);
  const anew = await asRead(episode, readerWith(latest, {}));
  expect(anew.read!.calls.map((call) => [...call.ids])).toEqual(ids.map((all) => all.slice(0, -1)));
  const promptsOf = ({ calls }: Episode) => calls.map((call) => promptOf(call, calls));
  expect(promptsOf(read!)).toEqual(promptsOf(anew.read!));
  // Nobody knows how likely they were behind these.
  for (const { logprobs, entropy } of read!.calls) {
    expect(entropy).toBeUndefined();
    expect(logprobs).toEqual(new Float32Array(3));
  }
});

test('a context that fails has nothing read, and ends nothing', async () => {
  const broken = defineContext({
    name: 'broken',
    summary: 'fails in the third turn',
    options: z.strictObject({}),
    start: () => null,
    window({ calls, fresh, state }) {
      if (calls.length === 2) throw new Error('no third turn');
      return { conversation: { all: true, parts: fresh }, state };
    },
  });
  const { read, asked, failed } = await asRead(await recorded(), readerWith(broken, {}));
  expect([read, asked]).toEqual([undefined, false]);
  expect(String(failed)).toContain('no third turn');
});
