/** Our client against a server that takes passes as protobuf alone, as newer ones do, without being told so. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { adam, randomBatch } from '../../engine/embedded/testing/tiny-engine.ts';
import { crossEntropy } from '../../objective/imitation/cross-entropy.ts';
import { baseEngine, tinyClient, tinyServer } from './testing/tiny-server.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Hands everything on to a server, but answers JSON passes with 415. */
async function insisting(url: string): Promise<{ url: string; passes: string[] }> {
  const passes: string[] = [];
  const proxy = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
    const { accept = '', 'content-type': type = '' } = request.headers;
    const isPass = /\/forward/.test(request.url!);
    if (isPass) passes.push(`${request.url!.split('/').at(-1)} ${type}`);
    if (isPass && type === 'application/json') {
      response.writeHead(415, { 'content-type': 'application/json' });
      return response.end('{"detail":"Expected application/x-protobuf"}');
    }
    const answer = await fetch(`${url}${request.url}`, {
      method: request.method!,
      headers: { accept, 'content-type': type },
      ...(request.method === 'POST' && { body: Buffer.concat(parts) }),
    });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    return response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, passes };
}

test('refused JSON is sent again as protobuf, once, and gives the same numbers', async () => {
  const { url, passes } = await insisting((await tinyServer()).url);
  const engine = await tinyClient(url, { lossScale: 'sum' });
  const direct = await baseEngine();
  const batch = randomBatch([5, 3]);
  const expected = await direct.score(batch, { temperature: 1 });
  const got = await engine.score(batch, { temperature: 1 });
  for (const [row, logprobs] of expected.logprobs.entries())
    for (const [t, logprob] of logprobs.entries()) expect(got.logprobs[row]![t]!).toBeCloseTo(logprob, 4);
  await engine.forwardBackward(batch, crossEntropy(), { temperature: 1 });
  expect((await engine.optimStep(adam)).gradientNorm).toBeGreaterThan(0);
  expect(passes.filter((pass) => pass.endsWith('json'))).toEqual(['forward application/json']);
  expect(new Set(passes.slice(1))).toEqual(new Set(['forward_backward application/x-protobuf']));
});
