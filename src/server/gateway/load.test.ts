/** Many episodes at once, and clients that leave in the middle: every answer reaches its own client, and nothing stays behind. */

import { afterEach, expect, test } from 'vitest';
import { Gateway } from './gateway.ts';
import { policyModel } from './policy-model.ts';
import { rendererOf, scriptedTokens } from './testing/scripted-policy.ts';

const EPISODES = 200;
const words = Array.from({ length: EPISODES }, (_, index) => `w${index}`);
const renderer = rendererOf(words.join(' '));

let gateway: Gateway;
afterEach(() => gateway.stop());

test('200 episodes at once: each reads its own answers, and those who hang up disturb nobody', {
  timeout: 60_000,
}, async () => {
  gateway = await new Gateway().start();
  let waiting = 0;
  let open = (): void => {};
  const all = new Promise<void>((resolve) => {
    open = resolve;
  });
  const policy = scriptedTokens(renderer, async ({ messages }) => {
    if (messages.length === 1) {
      // Nobody is answered before everybody has asked.
      if (++waiting === EPISODES) open();
      await all;
    } else await new Promise((resolve) => setTimeout(resolve, 50));
    return messages.at(-1)!.content;
  });
  const model = policyModel({ policy, renderer, contextLength: 64 });
  const sessions = words.map((word) => gateway.open({ name: word, seed: 1, model, maxCalls: 9 }));
  const leaves = (index: number): boolean => index % 10 === 0;
  const played = await Promise.allSettled(
    sessions.map(async (session, index) => {
      const messages: object[] = [];
      for (let call = 0; call < 3; call++) {
        messages.push({ role: 'user', content: words[index] });
        const hangUp = new AbortController();
        if (leaves(index) && call === 1) setTimeout(() => hangUp.abort(), 5);
        const response = await fetch(`${gateway.baseURL(session)}/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${session.key}` },
          body: JSON.stringify({ model: 'policy', messages }),
          signal: hangUp.signal,
        });
        const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
        expect(choices[0]!.message.content).toBe(words[index]);
        messages.push(choices[0]!.message);
      }
    }),
  );
  expect(played.map(({ status }) => status === 'rejected')).toEqual(words.map((_, index) => leaves(index)));
  await expect.poll(() => gateway.state.running).toBe(0);
  for (const [index, session] of sessions.entries()) {
    const { calls, transitions } = gateway.end(session.id, { reward: 1 });
    expect(calls.every(({ text }) => text === words[index])).toBe(true);
    expect(calls.length).toBe(leaves(index) ? calls.length : 3);
    if (!leaves(index)) {
      expect(calls.map(({ parent }) => parent)).toEqual([undefined, 0, 1]);
      expect(transitions.map(({ rewards }) => rewards.agent)).toEqual([0, 0, 1]);
    }
  }
  expect(gateway.sessions).toEqual([]);
});
