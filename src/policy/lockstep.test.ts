import { expect, test } from 'vitest';
import { wordRenderer } from '../model/chat/renderer.ts';
import { WordTokenizer } from '../model/tokenizer/word-tokenizer.ts';
import { type Batching, continuous } from './batching.ts';
import { enginePolicy } from './engine-policy.ts';
import { Lockstep } from './lockstep.ts';
import type { CompletionRequest } from './policy.ts';
import type { Sampler } from './sampler.ts';

const tokenizer = WordTokenizer.fromTexts(['a b']);

/** Notes which requests are made in one breath. */
function recorder(): Sampler & { readonly batches: string[][] } {
  const batches: string[][] = [];
  let open: string[] | undefined;
  return {
    version: 1,
    batches,
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
    publish: async () => 1,
    release: () => {},
  };
}

const request = (conversation: string): CompletionRequest =>
  ({
    conversation,
    seedKey: '',
    keep: 0,
    append: Int32Array.of(4),
    sampling: {},
    messages: [],
  }) as unknown as CompletionRequest;

async function play(batching: Batching): Promise<string[][]> {
  const sampler = recorder();
  const policy = enginePolicy(sampler, wordRenderer(tokenizer, 1), batching);
  const episode = async (name: string, turns: number, delayMs: number): Promise<void> => {
    for (let turn = 0; turn < turns; turn++) {
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      await policy.complete(request(name));
    }
    batching.leave();
  };
  for (let i = 0; i < 3; i++) batching.enter();
  await Promise.all([episode('c', 2, 0), episode('a', 3, 20), episode('b', 1, 9)]);
  return sampler.batches;
}

test('in lockstep a batch forms when every live episode waits, whatever their speeds, in an order of its own', async () => {
  expect(await play(new Lockstep())).toEqual([['a', 'b', 'c'], ['a', 'c'], ['a']]);
});

/** Episodes A and B in lockstep. */
function together() {
  const sampler = recorder();
  const lockstep = new Lockstep();
  const policy = enginePolicy(sampler, wordRenderer(tokenizer, 1), lockstep);
  for (let i = 0; i < 2; i++) lockstep.enter();
  const ask = async (...conversations: string[]): Promise<void> => {
    await Promise.all(conversations.map((conversation) => policy.complete(request(conversation))));
  };
  return { ask, lockstep, batches: sampler.batches };
}
const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

test.each([[['1/A/0', '1/A/1', '1/B/0']], [['1/B/0', '1/A/0', '1/A/1']], [['1/A/1', '1/B/0', '1/A/0']]])(
  'completions that an episode asks for in one breath take one place, in whatever order: %s',
  async (asked) => {
    const { ask, batches } = together();
    await ask(...asked);
    expect(batches).toEqual([['1/A/0', '1/A/1', '1/B/0']]);
  },
);

test('calls of one episode do not wait for each other, only for the other episodes', async () => {
  const { ask, lockstep, batches } = together();
  const first = ask('1/A/0', '1/A/1');
  await later();
  expect(batches).toEqual([]);
  await Promise.all([first, ask('1/B/0')]);
  await later();
  // A call that comes late joins the next batch, and nobody waits for a second one of its episode.
  await Promise.all([ask('1/A/0'), ask('1/B/0')]);
  await later();
  const last = ask('1/A/1');
  await later();
  lockstep.leave();
  await last;
  expect(batches).toEqual([['1/A/0', '1/A/1', '1/B/0'], ['1/A/0', '1/B/0'], ['1/A/1']]);
});

test('without it nobody waits for anybody', async () => {
  const batches = await play(continuous);
  expect(batches[0]![0]).toBe('c');
  expect(batches.length).toBeGreaterThan(1);
  expect(batches.flat().sort()).toEqual(['a', 'a', 'a', 'b', 'c', 'c']);
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
