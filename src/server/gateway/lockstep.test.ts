/** Calls of several sessions whose policy samples in lockstep. */

import { afterEach, expect, test, vi } from 'vitest';
import { enginePolicy } from '../../policy/engine-policy.ts';
import { Lockstep } from '../../policy/lockstep.ts';
import type { Sampler } from '../../policy/sampler.ts';
import { Gateway } from './gateway.ts';
import { policyModel } from './policy-model.ts';
import { chat, renderer } from './testing/open-gateway.ts';

let gateway: Gateway;
afterEach(() => gateway.stop());

/** Two sessions, and the completions that are asked for, those of a moment together. */
async function twoSessions() {
  const batches: string[][] = [];
  let open: string[] | undefined;
  const sampler: Pick<Sampler, 'version' | 'sample' | 'release'> = {
    version: 1,
    sample: async ({ conversation }) => {
      if (open === undefined) {
        open = [];
        batches.push(open);
        setImmediate(() => {
          open = undefined;
        });
      }
      open.push(conversation);
      return { ids: Int32Array.of(4), logprobs: Float32Array.of(0), finish: 'length', version: 1 };
    },
    release: () => {},
  };
  const lockstep = new Lockstep();
  gateway = await new Gateway().start();
  const model = policyModel({
    policy: enginePolicy(sampler, renderer, lockstep),
    renderer,
    contextLength: 64,
  });
  const clientOf = (name: string) => {
    lockstep.enter();
    const session = gateway.open({ name, seed: 1, model, maxCalls: 9 });
    return (more: object = {}) =>
      fetch(`${gateway.baseURL(session)}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${session.key}` },
        body: JSON.stringify(chat('who', more)),
      });
  };
  return { a: clientOf('1/0/0'), b: clientOf('1/0/1'), batches };
}

/** Until so many calls wait. */
const waiting = (calls: number): Promise<void> => vi.waitFor(() => expect(gateway.state.running).toBe(calls));

test('several choices are one episode that waits, and stand in one batch, whoever comes first', async () => {
  const { a, b, batches } = await twoSessions();
  const choices = a({ n: 2 });
  await waiting(1);
  expect(batches).toEqual([]);
  await Promise.all([choices, b()]);
  const alone = b();
  await waiting(1);
  await Promise.all([alone, a({ n: 2 })]);
  expect(batches).toEqual([
    ['1/0/0/0', '1/0/0/1', '1/0/1/0'],
    ['1/0/0/2', '1/0/0/3', '1/0/1/1'],
  ]);
});

test('calls in parallel are one episode that waits', async () => {
  const { a, b, batches } = await twoSessions();
  const calls = [a(), a()];
  await waiting(2);
  expect(batches).toEqual([]);
  await Promise.all([...calls, b()]);
  expect(batches).toEqual([['1/0/0/0', '1/0/0/1', '1/0/1/0']]);
});
