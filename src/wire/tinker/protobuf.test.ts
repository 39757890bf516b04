import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { file_tinker_public } from './generated/tinker_public_pb.ts';
import {
  decodeForwardBackwardOutput,
  decodeForwardBackwardRequest,
  decodeSampleOutput,
  encodeForwardBackwardOutput,
  encodeForwardBackwardRequest,
  encodeSampleOutput,
  forwardBackwardNumbers,
} from './protobuf.ts';
import { exchanges } from './testing/exchanges.ts';

const float = fc.float({ noNaN: true, noDefaultInfinity: true });
const floats = fc.array(float, { maxLength: 8 }).map((values) => Float32Array.from(values));
const ints = fc.array(fc.integer({ min: 0, max: 2 ** 31 - 1 }), { maxLength: 8 });

test('property: what is written is read again', () => {
  const datum = fc.record({
    tokens: ints.map((values) => Int32Array.from(values)),
    inputs: fc.record({ target_tokens: ints.map((values) => Int32Array.from(values)), weights: floats }),
  });
  const request = fc.record({
    modelId: fc.string(),
    seqId: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
    data: fc.array(datum, { maxLength: 4 }),
    lossName: fc.string(),
    lossConfig: fc.dictionary(
      fc.stringMatching(/^[a-z]+$/),
      fc.oneof(fc.double({ noNaN: true }), fc.string()),
    ),
    forwardOnly: fc.boolean(),
  });
  fc.assert(
    fc.property(request, (value) => {
      const read = decodeForwardBackwardRequest(encodeForwardBackwardRequest(value));
      expect(read).toEqual({ ...value, lossConfig: { ...value.lossConfig } });
    }),
  );
  const output = fc.record({
    outputs: fc.array(fc.record({ logprobs: floats, elementwise_loss: floats }), {
      minLength: 1,
      maxLength: 4,
    }),
    metrics: fc.dictionary(fc.stringMatching(/^[a-z:]+$/), fc.double({ noNaN: true })),
  });
  fc.assert(
    fc.property(output, (value) => {
      expect(decodeForwardBackwardOutput(encodeForwardBackwardOutput(value))).toEqual({
        ...value,
        metrics: { ...value.metrics },
      });
    }),
  );
});

test('samples keep order, ends and the prompt’s missing first log-probability', () => {
  const output = {
    sequences: [
      { tokens: [1, 2], logprobs: [-0.5, -1], finish: 'stop' as const },
      { tokens: [], logprobs: [], finish: 'length' as const },
    ],
    promptLogprobs: [null, -0.25],
  };
  expect(decodeSampleOutput(encodeSampleOutput(output))).toEqual(output);
});

test('property: garbage is a typed error, never another one', () => {
  for (const decode of [decodeForwardBackwardRequest, decodeForwardBackwardOutput, decodeSampleOutput]) {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (garbage) => {
        try {
          decode(garbage);
        } catch (error) {
          expect(error).toMatchObject({ code: 'tinker-garbled' });
        }
      }),
      { numRuns: 400 },
    );
  }
});

test('the generated code is that of the .proto file', () => {
  const source = readFileSync(join(import.meta.dirname, 'tinker_public.proto'), 'utf8');
  const written = [...source.matchAll(/^ +(?:optional |repeated )?[\w.<>, ]*?(\w+) = (\d+);/gm)].map(
    ([, name, number]) => `${name} ${number}`,
  );
  const generated = [
    ...file_tinker_public.messages.flatMap(({ fields }) => fields),
    ...file_tinker_public.enums.flatMap(({ values }) => values),
  ].map(({ name, number }) => `${name} ${number}`);
  expect(generated.toSorted()).toEqual(written.toSorted());
});

test('a request that cannot be read still says which one it is', () => {
  const request = { modelId: 'm', seqId: 7, data: [], lossName: 'ppo', lossConfig: {}, forwardOnly: false };
  const broken = Buffer.concat([encodeForwardBackwardRequest(request), Uint8Array.of(0x1a, 0xff)]);
  expect(() => decodeForwardBackwardRequest(broken)).toThrow('its protobuf is broken');
  expect(forwardBackwardNumbers(broken)).toEqual({ model_id: 'm', seq_id: 7 });
  expect(forwardBackwardNumbers(Uint8Array.of(0xff))).toEqual({});
});

test('groups a million levels deep, and a count of data without data, are refused', () => {
  const nested = new Uint8Array(1_000_000).fill(0x4b);
  expect(() => decodeForwardBackwardRequest(nested)).toThrow('Seen: groups of fields.');
  const endless = Uint8Array.of(0x12, 6, 0x18, 0xff, 0xff, 0xff, 0xff, 0x0f);
  expect(() => decodeForwardBackwardOutput(endless)).toThrow('4294967295, and no field');
});

describe('what the official SDK and a real server said', () => {
  const lines = exchanges('10-sdk-0.25-protobuf');
  const fixture = (message: string) =>
    lines.flatMap(({ request, response }) =>
      [request, response].flatMap((side) => (side?.message === `tinker_public.${message}` ? [side] : [])),
    );

  test('requests', () => {
    const found = fixture('ForwardBackwardRequest');
    expect(found.length).toBeGreaterThan(3);
    for (const { base64, decoded } of found) {
      const read = decodeForwardBackwardRequest(Buffer.from(base64!, 'base64'));
      // With settings the SDK fills only the first of the two maps.
      if (Object.keys(read.lossConfig).length === 0)
        expect(Buffer.from(encodeForwardBackwardRequest(read)).toString('base64')).toBe(base64);
      const truth = decoded as {
        model_id: string;
        seq_id: number;
        loss_fn: string;
        loss_fn_config: Record<string, number>;
        forward_only: boolean;
        data: {
          model_input: { tokens: number[] }[];
          loss_fn_inputs: Record<string, { data: number[] }>;
        }[];
      };
      expect(read).toMatchObject({
        modelId: truth.model_id,
        seqId: truth.seq_id,
        lossName: truth.loss_fn,
        lossConfig: truth.loss_fn_config,
        forwardOnly: truth.forward_only,
      });
      for (const [index, datum] of truth.data.entries()) {
        expect([...read.data[index]!.tokens]).toEqual(datum.model_input.flatMap(({ tokens }) => tokens));
        for (const [name, { data }] of Object.entries(datum.loss_fn_inputs))
          expect([...read.data[index]!.inputs[name]!]).toEqual(data.map(Math.fround));
      }
    }
  });

  test('results', () => {
    const found = fixture('ForwardBackwardOutput');
    expect(found.length).toBeGreaterThan(3);
    for (const { base64, decoded } of found) {
      const output = decodeForwardBackwardOutput(Buffer.from(base64!, 'base64'));
      expect(Buffer.from(encodeForwardBackwardOutput(output)).toString('base64')).toBe(base64);
      const { outputs } = output;
      const truth = decoded as {
        loss_fn_outputs: { num_datums: number; fields: { logprobs: { data: number[] } } }[];
      };
      const [record] = truth.loss_fn_outputs;
      expect(outputs).toHaveLength(record!.num_datums);
      const all = outputs.flatMap(({ logprobs }) => [...logprobs!]);
      expect(all).toEqual(record!.fields.logprobs.data.map(Math.fround));
    }
    for (const { base64, decoded } of fixture('SampleResponse')) {
      const output = decodeSampleOutput(Buffer.from(base64!, 'base64'));
      expect(Buffer.from(encodeSampleOutput(output)).toString('base64')).toBe(base64);
      const { sequences } = output;
      const truth = decoded as { sequences: { tokens: number[] }[] };
      expect(sequences.map(({ tokens }) => tokens)).toEqual(truth.sequences.map(({ tokens }) => tokens));
    }
  });
});
