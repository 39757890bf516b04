/** The client given the answers of a real server, in the order in which it gave them. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { type Exchange, exchanges } from '../../wire/tinker/testing/exchanges.ts';
import { anySchema, forwardBackwardSchema, readAnswer, sampleSchema } from './answers.ts';
import { resultOf } from './futures.ts';
import { Transport } from './transport.ts';

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** Says what was recorded, one answer after the other. */
async function replay(answers: readonly Exchange[]): Promise<{ url: string; left: () => number }> {
  let next = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const { status, response: recorded } = answers[next++]!;
      response.writeHead(status!, { 'content-type': 'application/json' });
      response.end(JSON.stringify(recorded!.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(() => server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    left: () => answers.length - next,
  };
}

const isResult = ({ path, status }: Exchange): boolean =>
  path.endsWith('/retrieve_future') && status !== null;

test('results that were not there yet are asked for until they are', async () => {
  const results = exchanges('12-try-again-408').filter(isResult);
  const first = results.findIndex(({ status }) => status === 408);
  const last = results.findIndex(({ status }, index) => index > first && status === 200);
  const answers = results.slice(first, last + 1);
  expect(answers.filter(({ status }) => status === 408).length).toBeGreaterThan(0);
  const { url, left } = await replay(answers);
  const transport = new Transport({ baseUrl: url, signal: new AbortController().signal });
  const kind = { name: 'work', schema: anySchema };
  const options = { resultTimeoutMs: 10_000, pollMs: 5000 };
  const result = await resultOf(transport, kind, '1', async () => 'again', options);
  expect(result).toEqual(answers.at(-1)!.response!.body);
  expect(left()).toBe(0);
});

test('every recorded result of sampling and of passes is read', () => {
  const seen = { samples: 0, passes: 0, tokens: 0 };
  for (const { response } of [...exchanges('03-sample'), ...exchanges('04-losses')].filter(isResult)) {
    const body = response!.body as Readonly<Record<string, unknown>>;
    if ('sequences' in body) {
      const { sequences } = readAnswer(sampleSchema, body, 'The sampling');
      for (const { tokens, logprobs } of sequences) expect(logprobs).toHaveLength(tokens.length);
      seen.samples++;
      seen.tokens += sequences.reduce((sum, { tokens }) => sum + tokens.length, 0);
    } else if ('loss_fn_outputs' in body) {
      const { outputs } = readAnswer(forwardBackwardSchema, body, 'The pass');
      for (const { logprobs, elementwise_loss } of outputs)
        expect(elementwise_loss).toHaveLength(logprobs!.length);
      seen.passes++;
    }
  }
  expect(seen.samples).toBeGreaterThan(10);
  expect(seen.passes).toBeGreaterThan(5);
  expect(seen.tokens).toBeGreaterThan(100);
});
