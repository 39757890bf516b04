import { create, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fieldProblem, mostFields } from './field-count.ts';
import {
  Dtype,
  ForwardBackwardNumbersSchema,
  ForwardBackwardOutputSchema,
  ForwardBackwardRequestSchema,
} from './generated/tinker_public_pb.ts';
import {
  decodeForwardBackwardOutput,
  decodeForwardBackwardRequest,
  encodeForwardBackwardRequest,
  forwardBackwardNumbers,
} from './protobuf.ts';
import { exchanges } from './testing/exchanges.ts';

const MIB = 2 ** 20;

/** Four mebibytes of these bytes, inside of those fields. */
function repeated(bytes: readonly number[], ...inside: readonly number[]): Uint8Array {
  let body: Uint8Array = new Uint8Array(4 * MIB).map((_, index) => bytes[index % bytes.length]!);
  for (const field of inside.toReversed()) {
    const length = [0, 7, 14, 21].map((shift) => ((body.length >>> shift) & 0x7f) | (shift < 21 ? 0x80 : 0));
    body = Buffer.concat([Uint8Array.of((field << 3) | 2, ...length), body]);
  }
  return body;
}

describe('mebibytes of', () => {
  test.each<[string, Uint8Array]>([
    ['empty data', repeated([0x1a, 0])],
    ['empty chunks of a datum', repeated([0x0a, 0], 3)],
    ['empty tensors of a datum', repeated([0x12, 0], 3)],
    ['values of one entry', repeated([0x12, 0], 3, 2)],
    ['empty numbers of a tensor', repeated([0x0a, 0], 3, 2, 2)],
    ['lengths of a shape, one by one', repeated([0x20, 0], 3, 2, 2)],
    ['lengths of a shape, packed', repeated([0], 3, 2, 2, 4)],
    ['texts of a chunk', repeated([0x0a, 0], 3, 1)],
    ['names', repeated([0x0a, 0])],
    ['settings', repeated([0x3a, 0])],
    ['unknown fields', repeated([0x78, 0])],
  ])('%s are refused unread', (_, body) => {
    expect(() => decodeForwardBackwardRequest(body)).toThrow(`Seen: more than ${mostFields} fields.`);
  });

  test('records of a result are', () => {
    expect(() => decodeForwardBackwardOutput(repeated([0x12, 0]))).toThrow('Seen: more than');
    expect(fieldProblem(ForwardBackwardOutputSchema, repeated([0x0a, 0], 2, 2))).toContain('more than');
  });

  test('a group of unknown fields is, and which request it is stays unknown', () => {
    const group = repeated([0x78, 0]);
    group[0] = 0x7b;
    expect(() => decodeForwardBackwardRequest(group)).toThrow('Seen: groups of fields.');
    expect(forwardBackwardNumbers(group)).toEqual({});
    expect(forwardBackwardNumbers(repeated([0x1a, 0]))).toEqual({});
  });

  test('tokens are read', () => {
    const tokens = Int32Array.from({ length: 7 * MIB }, (_, index) => index);
    const request = { modelId: 'm', seqId: 1, lossName: 'ppo', lossConfig: {}, forwardOnly: false };
    const body = encodeForwardBackwardRequest({ ...request, data: [{ tokens, inputs: {} }] });
    expect(decodeForwardBackwardRequest(body).data[0]!.tokens).toHaveLength(7 * MIB);
  });
});

test('a field of another wire type than its own is refused: the decoder would read it as its own', () => {
  // Field 3, a datum, as a number.
  expect(() => decodeForwardBackwardRequest(Uint8Array.of(0x18, 0, 0x18, 0))).toThrow(
    'Seen: field 3 as wire type 0.',
  );
});

test('property: the fields that are counted are those that are decoded', () => {
  const datum = fc.record({ chunks: fc.nat(5), tensors: fc.nat(5), shape: fc.nat(3) });
  fc.assert(
    fc.property(fc.array(datum, { maxLength: 6 }), fc.nat(3), (data, settings) => {
      const message = create(ForwardBackwardRequestSchema, {
        modelId: 'm',
        data: data.map(({ chunks, tensors, shape }) => ({
          modelInput: Array.from({ length: chunks }, () => ({
            content: { case: 'encodedText' as const, value: { tokens: Uint8Array.of(1, 0, 0, 0) } },
          })),
          lossFnInputs: Object.fromEntries(
            Array.from({ length: tensors }, (_, index) => [
              `t${index}`,
              { dtype: Dtype.FLOAT32, shape: Array.from({ length: shape }, () => 1) },
            ]),
          ),
        })),
        lossFnConfig: Object.fromEntries(Array.from({ length: settings }, (_, index) => [`s${index}`, 1])),
      });
      const body = toBinary(ForwardBackwardRequestSchema, message);
      // A datum; a chunk, its text and its tokens; an entry, its key, its tensor and its dtype, and its shape by numbers.
      const count =
        1 +
        3 * settings +
        data.reduce(
          (sum, { chunks, tensors, shape }) =>
            sum + 1 + 3 * chunks + (4 + (shape > 0 ? 1 + shape : 0)) * tensors,
          0,
        );
      expect(fieldProblem(ForwardBackwardRequestSchema, body, count)).toBeUndefined();
      expect(fieldProblem(ForwardBackwardRequestSchema, body, count - 1)).toBe(
        `more than ${count - 1} fields`,
      );
    }),
  );
});

test('what the official SDK sends has few of them', () => {
  const bodies = exchanges('10-sdk-0.25-protobuf').flatMap(({ request }) =>
    request?.message === 'tinker_public.ForwardBackwardRequest'
      ? [Buffer.from(request.base64!, 'base64')]
      : [],
  );
  expect(bodies.length).toBeGreaterThan(3);
  for (const body of bodies) {
    expect(fieldProblem(ForwardBackwardRequestSchema, body, 200)).toBeUndefined();
    expect(fieldProblem(ForwardBackwardNumbersSchema, body, 20)).toBeUndefined();
  }
});
