/** What models elsewhere cost: counted, limited, and not paid twice. */

import { expect, test } from 'vitest';
import { readChatCall } from './call-request.ts';
import type { ChatModel, ModelAnswer, ModelRequest } from './chat-model.ts';
import { SpendMeter } from './spend.ts';

const request = (content: string, temperature?: number): ModelRequest => ({
  call: readChatCall({
    model: 'judge',
    messages: [{ role: 'user', content }],
    ...(temperature !== undefined && { temperature }),
  }),
  promptIds: new Int32Array(),
  conversation: content,
  seedKey: content,
  contentKey: content,
  signal: new AbortController().signal,
});

const answer: ModelAnswer = {
  reply: { content: 'so', toolCalls: [] },
  text: 'so',
  finish: 'stop',
  promptIds: new Int32Array(),
  ids: new Int32Array(),
  logprobs: new Float32Array(),
  tokens: { prompt: 100, completion: 10 },
  sampling: { temperature: 0, topP: 1, topK: 0, maxTokens: 1 },
};

/** A server that answers when it is told to, and fails the first of its calls where `fails`. */
function server(fails = false): { readonly model: ChatModel; readonly asked: () => number; release(): void } {
  let asked = 0;
  let release = (): void => {};
  const open = new Promise<void>((resolve) => {
    release = resolve;
  });
  const model: ChatModel = {
    name: 'judge',
    version: 0,
    author: { kind: 'model', name: 'judge@host' },
    answer: async () => {
      const call = ++asked;
      await open;
      if (fails && call === 1) throw new Error('busy');
      return answer;
    },
  };
  return { model, asked: () => asked, release: () => release() };
}

test('at temperature 0 one request is paid once, also by those who ask at the same time', async () => {
  const { model, asked, release } = server();
  const meter = new SpendMeter({ price: { input: 10, output: 100 } });
  const metered = meter.metered(model);
  const together = [1, 2, 3].map(() => metered.answer(request('who', 0)));
  release();
  expect(await Promise.all(together)).toEqual([answer, answer, answer]);
  await metered.answer(request('who', 0));
  expect(asked()).toBe(1);
  await metered.answer(request('else', 0));
  expect(meter.spent).toEqual({ calls: 2, cached: 3, promptTokens: 200, completionTokens: 20, cost: 0.004 });
});

test('a request that failed is asked again by those who waited for it', async () => {
  const { model, asked, release } = server(true);
  const metered = new SpendMeter().metered(model);
  const first = metered.answer(request('who', 0));
  const second = metered.answer(request('who', 0));
  release();
  await expect(first).rejects.toThrow('busy');
  expect(await second).toBe(answer);
  expect(asked()).toBe(2);
});

test('at other temperatures every request is asked', async () => {
  const { model, asked, release } = server();
  release();
  const metered = new SpendMeter().metered(model);
  await metered.answer(request('who', 0.5));
  await metered.answer(request('who', 0.5));
  await metered.answer(request('who'));
  expect(asked()).toBe(3);
});

test.each([
  [{ maxCalls: 2 }, 'Seen: 2 calls, 220 tokens. Allowed: 2 calls.'],
  [{ maxTokens: 150 }, 'Seen: 2 calls, 220 tokens. Allowed: 150 tokens.'],
])('beyond %j nothing is asked', async (limits, message) => {
  const { model, asked, release } = server();
  release();
  const meter = new SpendMeter(limits);
  const metered = meter.metered(model);
  await metered.answer(request('a'));
  await metered.answer(request('b'));
  await expect(metered.answer(request('c'))).rejects.toThrow(message);
  expect([asked(), meter.limited.aborted]).toEqual([2, true]);
});
