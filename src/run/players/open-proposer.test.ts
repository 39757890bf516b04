/** Proposers of prompts: a server, and the learner itself. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { user } from '../../core/messages.ts';
import type { SampleRequest } from '../../engine/engine.ts';
import { wordRenderer } from '../../model/chat/renderer.ts';
import { WordTokenizer } from '../../model/tokenizer/word-tokenizer.ts';
import { builtIns } from '../../train/config/catalogue.ts';
import { trainConfigSchema } from '../../train/config/config.ts';
import type { Learner } from '../../train/kit/learner.ts';
import { openProposer } from './open-proposer.ts';

const seen: { temperature: number; messages: unknown[] }[] = [];
let server: Server;
let address: string;
beforeAll(async () => {
  server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += String(part);
    seen.push(JSON.parse(text));
    response.writeHead(200, { 'content-type': 'application/json' });
    const message = { role: 'assistant', content: `answer ${seen.length}` };
    response.end(JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] }));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  address = `openai:http://127.0.0.1:${(server.address() as AddressInfo).port}/v1#big`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

const tokenizer = WordTokenizer.fromTexts(['improve this go left']);
const sampled: SampleRequest[] = [];
const released: string[] = [];
const engine = {
  capabilities: { contextLength: 6 },
  sample: async (request: SampleRequest) => {
    sampled.push(request);
    return {
      ids: Int32Array.from(tokenizer.encode('go left')),
      logprobs: new Float32Array(2),
      finish: 'stop',
    };
  },
  release: (names: readonly string[]) => released.push(...names),
} as unknown as Learner['engine'];

const open = (proposer: string) =>
  openProposer({
    config: trainConfigSchema.parse({ prompts: { proposer } }),
    catalogue: builtIns,
    engine,
    renderer: wordRenderer(tokenizer, 3),
  });
const at = (call: number) => ({ step: 2, call, signal: new AbortController().signal });

test('a server is asked at temperature 1, and again where the same is asked again', async () => {
  const propose = open(address)!;
  const answers = [await propose([user('improve')], at(0)), await propose([user('improve')], at(1))];
  expect(answers.map(({ text }) => text)).toEqual(['answer 1', 'answer 2']);
  // The model and its host.
  expect(new Set(answers.map(({ by }) => by)).size).toBe(1);
  expect(answers[0]!.by).toMatch(/^big/);
  expect(seen[0]).toMatchObject({ temperature: 1, messages: [{ role: 'user', content: 'improve' }] });
});

test('the learner answers with its own weights, in a conversation that is let go of', async () => {
  const propose = open('learner')!;
  expect(await propose([user('improve this')], at(3))).toEqual({ text: 'go left', by: 'learner' });
  expect(sampled.at(-1)).toMatchObject({
    conversation: 'proposer/2/3',
    keep: 0,
    // Two words and the mark before a completion leave room for three tokens.
    sampling: { temperature: 1, maxTokens: 3 },
  });
  expect(released).toEqual(['proposer/2/3']);
  await expect(propose([user('improve this improve this this this')], at(4))).rejects.toThrow(
    'does not fit into the context of the model',
  );
});

test('nobody is asked where nobody is named', () => {
  expect(open('')).toBeUndefined();
  expect(() => open('nobody')).toThrow('There is no such proposer');
});
