/** Judges elsewhere: asked over HTTP, counted with all other models, and a failed score where they fail. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { user } from '../../core/messages.ts';
import { SpendMeter } from '../../server/gateway/spend.ts';
import { askElsewhere } from './ask-model.ts';

let server: Server;
let address: string;
const seen: { temperature: number; messages: unknown[] }[] = [];
beforeAll(async () => {
  server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += String(part);
    const body = JSON.parse(text);
    seen.push(body);
    const refused = body.messages[0].content === 'refuse';
    response.writeHead(refused ? 403 : 200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        choices: [{ message: { role: 'assistant', content: '2 > 1' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 30, completion_tokens: 5 },
      }),
    );
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  address = `openai:http://127.0.0.1:${(server.address() as AddressInfo).port}/v1#big`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

test('a judge is asked at temperature 0, counted, and not asked the same twice', async () => {
  const meter = new SpendMeter({ maxCalls: 2 });
  const ask = askElsewhere(meter);
  const { signal } = new AbortController();
  const answer = await ask(address, [user('rank')], signal);
  expect(answer).toEqual({ text: '2 > 1', by: expect.stringMatching(/^big@127\.0\.0\.1/) });
  expect(seen.at(-1)).toMatchObject({
    temperature: 0,
    model: 'big',
    messages: [{ role: 'user', content: 'rank' }],
  });
  await ask(address, [user('rank')], signal);
  expect(meter.spent).toMatchObject({ calls: 1, cached: 1, promptTokens: 30, completionTokens: 5 });
  await ask(address, [user('rank again')], signal);
  await expect(ask(address, [user('once more')], signal)).rejects.toMatchObject({ code: 'spend-limit' });
  expect(meter.limited.aborted).toBe(true);
});

test('a server that refuses, and an address that is none', async () => {
  const ask = askElsewhere();
  const { signal } = new AbortController();
  await expect(ask(address, [user('refuse')], signal)).rejects.toMatchObject({ code: 'upstream-failed' });
  await expect(ask('big', [user('rank')], signal)).rejects.toMatchObject({ code: 'policy-unknown' });
});
