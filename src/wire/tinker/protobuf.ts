/**
 * The three messages of the Tinker API that travel as protobuf, between the shapes of this project and the generated code.
 * `tinker_public.proto` has their fields.
 */

import {
  create,
  type DescMessage,
  fromBinary,
  type MessageShape,
  mergeFromBinary,
  toBinary,
} from '@bufbuild/protobuf';
import { fieldProblem } from './field-count.ts';
import { garbled } from './garbled.ts';
import {
  type ArrayRecord,
  ArrayRecordSchema,
  type BatchedTensor,
  BatchedTensorSchema,
  DatumSchema,
  Dtype,
  ForwardBackwardNumbersSchema,
  ForwardBackwardOutputSchema,
  ForwardBackwardRequestSchema,
  LossSettingSchema,
  SampleResponseSchema,
  StopReason,
  type Chunk as WireChunk,
  type Datum as WireDatum,
  type Tensor as WireTensor,
} from './generated/tinker_public_pb.ts';
import type {
  Datum,
  ForwardBackwardOutput,
  ForwardBackwardRequest,
  NumberArray,
  SampleOutput,
} from './shapes.ts';
import { isOneColumn } from './shapes.ts';
import { copyOf, numbersOf, rawBytes } from './tensor-bytes.ts';

export function encodeForwardBackwardRequest(request: ForwardBackwardRequest): Uint8Array {
  const { modelId, seqId = 0, data, lossName, lossConfig, forwardOnly } = request;
  const message = create(ForwardBackwardRequestSchema, {
    modelId,
    seqId,
    data: data.map(wireDatum),
    lossFn: lossName,
    forwardOnly,
  });
  for (const [key, value] of Object.entries(lossConfig)) {
    const isNumber = typeof value === 'number';
    if (isNumber) message.lossFnConfig[key] = value;
    message.lossFnSettings[key] = create(LossSettingSchema, {
      value: isNumber ? { case: 'number', value } : { case: 'text', value },
    });
  }
  return toBinary(ForwardBackwardRequestSchema, message);
}

function wireDatum({ tokens, inputs }: Datum): WireDatum {
  const tensors = Object.entries(inputs).map(([name, values]) => [name, wireTensor(values)] as const);
  return create(DatumSchema, {
    modelInput: [{ content: { case: 'encodedText', value: { tokens: rawBytes(tokens) } } }],
    lossFnInputs: Object.fromEntries(tensors),
  });
}

function wireTensor(values: NumberArray): {
  storage: { case: 'dense'; value: Uint8Array<ArrayBuffer> };
  dtype: Dtype;
  shape: number[];
} {
  const isWhole = values instanceof Int32Array;
  return {
    storage: { case: 'dense', value: rawBytes(isWhole ? BigInt64Array.from(values, BigInt) : values) },
    dtype: isWhole ? Dtype.INT64 : Dtype.FLOAT32,
    shape: [values.length],
  };
}

/** @throws TurnwiseError `tinker-garbled` */
export function decodeForwardBackwardRequest(body: Uint8Array): ForwardBackwardRequest {
  const message = read(ForwardBackwardRequestSchema, body);
  const settings = Object.entries(message.lossFnSettings).map(
    ([key, { value }]) => [key, value.value ?? 0] as const,
  );
  return {
    modelId: message.modelId,
    seqId: message.seqId,
    lossName: message.lossFn,
    forwardOnly: message.forwardOnly,
    data: message.data.map(({ modelInput, lossFnInputs }) => ({
      tokens: joined(modelInput.map(tokensOf)),
      inputs: Object.fromEntries(
        Object.entries(lossFnInputs).map(([name, tensor]) => [name, valuesOf(tensor)]),
      ),
    })),
    lossConfig: { ...message.lossFnConfig, ...Object.fromEntries(settings) },
  };
}

/** Which request it is, whatever the rest of it holds; nothing where even that cannot be read, or not without end. */
export function forwardBackwardNumbers(body: Uint8Array): { model_id?: string; seq_id?: number } {
  const numbers = create(ForwardBackwardNumbersSchema);
  if (fieldProblem(ForwardBackwardNumbersSchema, body) !== undefined) return {};
  try {
    mergeFromBinary(ForwardBackwardNumbersSchema, numbers, body, withoutUnknown);
  } catch {
    // The error that is raised for the whole of it says what is wrong. What was read before stays.
  }
  const { modelId, seqId } = numbers;
  return {
    ...(modelId !== undefined && { model_id: modelId }),
    ...(seqId !== undefined && { seq_id: seqId }),
  };
}

function tokensOf({ content }: WireChunk): Int32Array {
  switch (content.case) {
    case 'encodedText':
      return copyOf(Int32Array, content.value.tokens);
    case undefined:
      return new Int32Array(0);
    default:
      throw garbled(
        'only chunks of encoded text can be trained on here',
        content.case === 'image' ? 'an image' : 'audio',
      );
  }
}

function valuesOf({ storage, dtype, shape }: WireTensor): NumberArray {
  if (storage.case === 'sparse') throw garbled('tensors must be dense here', 'a sparse tensor');
  if (!isOneColumn(shape))
    throw garbled(
      'a tensor has several numbers for one token, which are not trained on here',
      `[${shape.slice(0, 8).join(', ')}]`,
    );
  return numbersOf(storage.value ?? new Uint8Array(0), dtype);
}

export function encodeForwardBackwardOutput({ outputs, metrics }: ForwardBackwardOutput): Uint8Array {
  const fields = Object.keys(outputs[0] ?? {}).map(
    (name) => [name, batched(outputs.map((output) => output[name]!))] as const,
  );
  const record = create(ArrayRecordSchema, {
    fields: Object.fromEntries(fields),
    numDatums: BigInt(outputs.length),
  });
  return toBinary(
    ForwardBackwardOutputSchema,
    create(ForwardBackwardOutputSchema, { type: 'scalar', lossFnOutputs: [record], metrics: { ...metrics } }),
  );
}

function batched(parts: readonly Float32Array[]): BatchedTensor {
  const ends = [0];
  for (const { byteLength } of parts) ends.push(ends.at(-1)! + byteLength);
  return create(BatchedTensorSchema, {
    data: Buffer.concat(parts.map(rawBytes)),
    offsets: rawBytes(BigInt64Array.from(ends, BigInt)),
    dtype: Dtype.FLOAT32,
  });
}

/** @throws TurnwiseError `tinker-garbled` */
export function decodeForwardBackwardOutput(body: Uint8Array): ForwardBackwardOutput {
  const { lossFnOutputs, metrics } = read(ForwardBackwardOutputSchema, body);
  return { outputs: lossFnOutputs.flatMap(readRecord), metrics };
}

/** One record holds many data: each field is one long tensor, cut at byte offsets. */
function readRecord({ fields, numDatums }: ArrayRecord): Record<string, Float32Array>[] {
  const columns = Object.entries(fields).map(([name, tensor]) => [name, readBatched(tensor)] as const);
  const count = numDatums === 0n ? (columns[0]?.[1].length ?? 0) : Number(numDatums);
  const wrong = columns.find(([, parts]) => parts.length !== count);
  if (wrong || (columns.length === 0 && count !== 0))
    throw garbled(
      'a record says one number of data and holds another',
      wrong ? `${count}, ${wrong[1].length} of ${wrong[0]}` : `${count}, and no field`,
    );
  return Array.from({ length: count }, (_, index) =>
    Object.fromEntries(columns.map(([name, parts]) => [name, parts[index]!])),
  );
}

function readBatched({ data, offsets, dtype }: BatchedTensor): Float32Array[] {
  const bounds = Array.from(copyOf(BigInt64Array, offsets), Number);
  return bounds.slice(1).map((end, index) => {
    const start = bounds[index]!;
    if (!(start >= 0 && end >= start && end <= data.byteLength))
      throw garbled('offsets are outside their tensor', `${start} to ${end} of ${data.byteLength} bytes`);
    return Float32Array.from(numbersOf(data.subarray(start, end), dtype));
  });
}

export function encodeSampleOutput({ sequences, promptLogprobs }: SampleOutput): Uint8Array {
  const message = create(SampleResponseSchema, {
    sequences: sequences.map(({ tokens, logprobs, finish }) => ({
      stopReason: finish === 'length' ? StopReason.LENGTH : StopReason.STOP,
      tokens: rawBytes(Int32Array.from(tokens)),
      logprobs: rawBytes(Float32Array.from(logprobs)),
    })),
    ...(promptLogprobs && {
      promptLogprobs: rawBytes(Float32Array.from(promptLogprobs, (value) => value ?? Number.NaN)),
    }),
  });
  return toBinary(SampleResponseSchema, message);
}

/** @throws TurnwiseError `tinker-garbled` */
export function decodeSampleOutput(body: Uint8Array): SampleOutput {
  const { sequences, promptLogprobs } = read(SampleResponseSchema, body);
  return {
    sequences: sequences.map(({ stopReason, tokens, logprobs }) => ({
      tokens: Array.from(copyOf(Int32Array, tokens)),
      logprobs: Array.from(copyOf(Float32Array, logprobs)),
      finish: stopReason === StopReason.LENGTH ? 'length' : 'stop',
    })),
    ...(promptLogprobs && {
      promptLogprobs: Array.from(copyOf(Float32Array, promptLogprobs), (value) =>
        Number.isNaN(value) ? null : value,
      ),
    }),
  };
}

/** Unknown fields are passed over, not kept. */
const withoutUnknown = { readUnknownFields: false };

/** @throws TurnwiseError `tinker-garbled` */
function read<Schema extends DescMessage>(schema: Schema, body: Uint8Array): MessageShape<Schema> {
  const problem = fieldProblem(schema, body);
  if (problem !== undefined) throw garbled('its protobuf is not one of the API', problem);
  try {
    return fromBinary(schema, body, withoutUnknown);
  } catch (error) {
    throw garbled('its protobuf is broken', String(error), error);
  }
}

function joined(parts: readonly Int32Array[]): Int32Array {
  if (parts.length === 1) return parts[0]!;
  return Int32Array.from(parts.flatMap((part) => [...part]));
}
