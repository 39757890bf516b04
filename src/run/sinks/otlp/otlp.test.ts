import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { afterEach, expect, test } from 'vitest';
import { madeEvents, tellAll } from '../made-run.test-helper.ts';
import { gaugesOf } from './gauges.ts';
import { traceRequest } from './messages.ts';
import { otlp } from './otlp.ts';

interface Got {
  readonly path: string;
  readonly type: string | undefined;
  readonly key: string | undefined;
  readonly body: Buffer;
}

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A collector that answers each path with a status; 0 never answers. */
async function collector(answer: (path: string) => number): Promise<{ url: string; got: Got[] }> {
  const got: Got[] = [];
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { authorization, 'content-type': type } = request.headers;
      got.push({ path: request.url!, type, key: authorization, body: Buffer.concat(parts) });
      const status = answer(request.url!);
      if (status > 0) response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, got };
}

/** Values of a field, at any depth of one. */
function fieldsOf(bytes: Uint8Array, wanted: number): Uint8Array[] {
  const reader = new BinaryReader(bytes);
  const found: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === wanted) found.push(reader.bytes());
    else reader.skip(type);
  }
  return found;
}

const inside = (bytes: Uint8Array, ...path: number[]): Uint8Array[] =>
  path.reduce<Uint8Array[]>((all, field) => all.flatMap((one) => fieldsOf(one, field)), [bytes]);

test('metrics and episodes reach a collector, with the names of the conventions', async () => {
  const { url, got } = await collector(() => 200);
  const sink = otlp(url, { headers: { authorization: 'Basic x' }, content: true });
  await tellAll(sink);
  await sink.close?.('finished');
  expect(got.map(({ path }) => path).sort()).toEqual([
    '/v1/metrics',
    '/v1/metrics',
    '/v1/metrics',
    '/v1/metrics',
    '/v1/traces',
  ]);
  expect(new Set(got.map(({ type, key }) => `${type} ${key}`))).toEqual(
    new Set(['application/x-protobuf Basic x']),
  );
  const trace = got.find(({ path }) => path === '/v1/traces')!.body;
  const spans = inside(trace, 1, 2, 2);
  const names = spans.map((span) => Buffer.from(fieldsOf(span, 5)[0]!).toString());
  expect(names.slice(0, 3)).toEqual(['invoke_agent frozen-lake', 'chat policy', 'execute_tool frozen-lake']);
  expect(spans).toHaveLength(9);
  const [root, chat, tool] = spans as [Uint8Array, Uint8Array, Uint8Array];
  expect(fieldsOf(chat, 4)).toEqual(fieldsOf(root, 2));
  expect(fieldsOf(tool, 4)).toEqual(fieldsOf(chat, 2));
  expect(fieldsOf(root, 15)).toHaveLength(1);
  expect(Buffer.from(chat).toString()).toContain('gen_ai.output.messages');
});

test('conversations stay here unless they are asked for', async () => {
  const { url, got } = await collector(() => 200);
  const sink = otlp(url, { episodes: 2 });
  await tellAll(sink);
  await sink.close?.('finished');
  const trace = got.find(({ path }) => path === '/v1/traces')!.body;
  expect(inside(trace, 1, 2, 2)).toHaveLength(6);
  expect(trace.toString()).not.toContain('gen_ai.output.messages');
});

test('a collector that takes only one signal gets that one', async () => {
  const { url, got } = await collector((path) => (path === '/v1/metrics' ? 405 : 200));
  const sink = otlp(url);
  await tellAll(sink);
  await sink.close?.('finished');
  expect(got.filter(({ path }) => path === '/v1/metrics')).toHaveLength(1);
  expect(got.filter(({ path }) => path === '/v1/traces')).toHaveLength(1);
});

test('a collector that fails three times in a row is given up, and says where it was', async () => {
  const { url, got } = await collector(() => 503);
  const sink = otlp(url);
  await tellAll(sink);
  await expect(sink.close?.('finished')).rejects.toThrow(/^127\.0\.0\.1:\d+: the collector answered 503$/);
  expect(got).toHaveLength(3);
  expect(() => sink.event(madeEvents[3]!)).toThrow('503');
});

test('nothing waits for a collector that never answers', { timeout: 15_000 }, async () => {
  const { url } = await collector(() => 0);
  const sink = otlp(url);
  const began = performance.now();
  await tellAll(sink);
  expect(performance.now() - began).toBeLessThan(1000);
  await sink.close?.('finished');
  expect(performance.now() - began).toBeLessThan(4000);
});

test('units and attributes of gauges', () => {
  const metrics = {
    'time/step_s': 1,
    'speed/sample_tokens_per_s': 2,
    'loop/lag_p99_ms': 3,
    'stop/failed:tool': 4,
    'eval/greedy/success': 5,
    'tokens/sampled': 6,
    'tokens/padding_share': 7,
    'policy/kl': 8,
  };
  const gauges = gaugesOf({ kind: 'step', step: 1, time: 0, metrics });
  expect(
    gauges.map(({ name, unit, attributes }) => [name, unit, ...Object.values(attributes).slice(1)]),
  ).toEqual([
    ['turnwise.time.step', 's'],
    ['turnwise.speed.sample', '{token}/s'],
    ['turnwise.loop.lag_p99', 'ms'],
    ['turnwise.stop', '{episode}', 'failed:tool'],
    ['turnwise.eval.success', '1', 'greedy'],
    ['turnwise.tokens.sampled', '{token}'],
    ['turnwise.tokens.padding_share', '1'],
    ['turnwise.policy.kl', '{nat}'],
  ]);
});

test('a request has these bytes', () => {
  // As SerializeToString of opentelemetry-proto 1.45.2 writes the same span.
  const bytes = traceRequest({ version: '1', resource: { a: 'b' } }, [
    {
      trace: new Uint8Array(16).fill(1),
      id: new Uint8Array(8).fill(2),
      name: 's',
      kind: 'internal',
      from: 1,
      to: 2.5,
      attributes: { n: 3, x: 0.5, t: true, l: ['y'] },
      error: 'e',
    },
  ]);
  expect(Buffer.from(bytes).toString('hex')).toBe(
    '0a89010a0a0a080a016112030a0162127b0a0d0a087475726e77697365120131126a0a1001010101010101010101010101010101120802020202020202022a017330013940420f000000000041a0252600000000004a070a016e120218034a0e0a0178120921000000000000e03f4a070a0174120210014a0c0a016c12072a050a030a01797a051201651802',
  );
});
