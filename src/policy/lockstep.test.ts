import { expect, test } from 'vitest';
import { wordRenderer } from '../model/chat/renderer.ts';
import { WordTokenizer } from '../model/tokenizer/word-tokenizer.ts';
import { enginePolicy } from './engine-policy.ts';
import { Lockstep } from './lockstep.ts';
import type { CompletionRequest } from './policy.ts';
import type { SampleRequest, Sampler } from './sampler.ts';

const tokenizer = WordTokenizer.fromTexts(['a b']);

function recorder(): Sampler & { readonly batches: string[][] } {
  const batches: string[][] = [];
  return {
    version: 1,
    batches,
    sample: async (requests: readonly SampleRequest[]) => {
      batches.push(requests.map(({ conversation }) => conversation));
      return requests.map(() => ({
        ids: Int32Array.of(4),
        logprobs: Float32Array.of(0),
        finish: 'length' as const,
      }));
    },
    release: async () => {},
  };
}

const request = (conversation: string): CompletionRequest =>
  ({ conversation, seedKey: '', promptIds: [4], sampling: {}, messages: [] }) as unknown as CompletionRequest;

test('a batch forms when every live episode waits, whatever their speeds, in an order of its own', async () => {
  const sampler = recorder();
  const lockstep = new Lockstep();
  const policy = enginePolicy(sampler, wordRenderer(tokenizer, 1), lockstep);
  const episode = async (name: string, turns: number, delayMs: number): Promise<void> => {
    for (let turn = 0; turn < turns; turn++) {
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      await policy.complete(request(name));
    }
    lockstep.leave();
  };
  for (let i = 0; i < 3; i++) lockstep.enter();
  await Promise.all([episode('c', 2, 0), episode('a', 3, 9), episode('b', 1, 3)]);
  expect(sampler.batches).toEqual([['a', 'b', 'c'], ['a', 'c'], ['a']]);
});

test('an engine that fails rejects everyone who waits', async () => {
  const lockstep = new Lockstep();
  const sampler: Sampler = { ...recorder(), sample: () => Promise.reject(new Error('no weights')) };
  const policy = enginePolicy(sampler, wordRenderer(tokenizer, 1), lockstep);
  lockstep.enter();
  lockstep.enter();
  const results = await Promise.allSettled([policy.complete(request('a')), policy.complete(request('b'))]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
