/**
 * The three messages of the Tinker API that travel as protobuf (package `tinker_public`), with its field numbers.
 * Numbers inside tensors are little-endian bytes, read and written without going through JSON.
 */

import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { garbled } from './garbled.ts';
import type {
  Datum,
  ForwardBackwardOutput,
  ForwardBackwardRequest,
  NumberArray,
  SampledSequence,
  SampleOutput,
} from './shapes.ts';
import { isOneColumn } from './shapes.ts';

const float32 = 1;
const int64 = 2;
const int32 = 3;
const bfloat16 = 4;

export function encodeForwardBackwardRequest(request: ForwardBackwardRequest): Uint8Array {
  const writer = new BinaryWriter();
  text(writer, 1, request.modelId);
  integer(writer, 2, request.seqId ?? 0);
  for (const datum of request.data) message(writer, 3, () => writeDatum(writer, datum));
  text(writer, 4, request.lossName);
  for (const [key, value] of Object.entries(request.lossConfig)) {
    if (typeof value === 'number') {
      entry(writer, 5, key, () => writer.tag(2, WireType.Bit64).double(value));
    }
    // Newer servers prefer the second map, which also holds text.
    entry(writer, 7, key, () =>
      message(writer, 2, () =>
        typeof value === 'number' ? writer.tag(1, WireType.Bit64).double(value) : text(writer, 2, value),
      ),
    );
  }
  if (request.forwardOnly) writer.tag(6, WireType.Varint).bool(true);
  return writer.finish();
}

function writeDatum(writer: BinaryWriter, { tokens, inputs }: Datum): void {
  message(writer, 1, () => message(writer, 1, () => bytes(writer, 1, rawBytes(tokens))));
  for (const [name, values] of Object.entries(inputs)) {
    entry(writer, 2, name, () =>
      message(writer, 2, () => {
        const whole = values instanceof Int32Array;
        bytes(writer, 1, rawBytes(whole ? BigInt64Array.from(values, BigInt) : values));
        writer.tag(3, WireType.Varint).int32(whole ? int64 : float32);
        writer.tag(4, WireType.LengthDelimited).fork().int64(values.length).join();
      }),
    );
  }
}

/** @throws TurnwiseError `tinker-garbled` */
export function decodeForwardBackwardRequest(body: Uint8Array): ForwardBackwardRequest {
  const request = { modelId: '', seqId: 0, lossName: '', forwardOnly: false };
  const data: Datum[] = [];
  const lossConfig: Record<string, number | string> = {};
  fields(body, {
    1: (reader) => {
      request.modelId = reader.string();
    },
    2: (reader) => {
      request.seqId = reader.int32();
    },
    3: (reader) => data.push(readDatum(reader.bytes())),
    4: (reader) => {
      request.lossName = reader.string();
    },
    5: (reader) => {
      const [key, value] = readEntry(reader.bytes(), (inner) => inner.double());
      lossConfig[key] = value ?? 0;
    },
    6: (reader) => {
      request.forwardOnly = reader.bool();
    },
    7: (reader) => {
      const [key, value] = readEntry(reader.bytes(), (inner) => {
        let held: number | string = 0;
        fields(inner.bytes(), {
          1: (number) => {
            held = number.double();
          },
          2: (words) => {
            held = words.string();
          },
        });
        return held;
      });
      lossConfig[key] = value ?? 0;
    },
  });
  return { ...request, data, lossConfig };
}

/** Which request it is, whatever the rest of it holds; nothing where even that cannot be read. */
export function forwardBackwardNumbers(body: Uint8Array): { model_id?: string; seq_id?: number } {
  const numbers: { model_id?: string; seq_id?: number } = {};
  try {
    fields(body, {
      1: (reader) => {
        numbers.model_id = reader.string();
      },
      2: (reader) => {
        numbers.seq_id = reader.int32();
      },
    });
  } catch {
    // The error that is raised for the whole of it says what is wrong.
  }
  return numbers;
}

function readDatum(body: Uint8Array): Datum {
  const chunks: Int32Array[] = [];
  const inputs: Record<string, NumberArray> = {};
  fields(body, {
    1: (reader) => {
      fields(reader.bytes(), {
        1: (chunk) => {
          fields(chunk.bytes(), { 1: (encoded) => chunks.push(viewOf(Int32Array, encoded.bytes())) });
        },
        2: () => unsupported('an image'),
        3: () => unsupported('audio'),
      });
    },
    2: (reader) => {
      const [name, values] = readEntry(reader.bytes(), (inner) => readTensor(inner.bytes()));
      inputs[name] = values ?? new Float32Array(0);
    },
  });
  return { tokens: joined(chunks), inputs };
}

function unsupported(kind: string): never {
  throw garbled('only chunks of encoded text can be trained on here', kind);
}

function readTensor(body: Uint8Array): NumberArray {
  let dense: Uint8Array = new Uint8Array(0);
  let dtype = 0;
  const shape: number[] = [];
  fields(body, {
    1: (reader) => {
      dense = reader.bytes();
    },
    2: () => {
      throw garbled('tensors must be dense here', 'a sparse tensor');
    },
    3: (reader) => {
      dtype = reader.int32();
    },
    4: (reader, type) => {
      if (type !== WireType.LengthDelimited) shape.push(Number(reader.int64()));
      else {
        const end = reader.uint32() + reader.pos;
        while (reader.pos < end) shape.push(Number(reader.int64()));
      }
    },
  });
  if (!isOneColumn(shape))
    throw garbled(
      'a tensor has several numbers for one token, which are not trained on here',
      `[${shape.join(', ')}]`,
    );
  return numbersOf(dense, dtype);
}

export function encodeForwardBackwardOutput({ outputs, metrics }: ForwardBackwardOutput): Uint8Array {
  const writer = new BinaryWriter();
  text(writer, 1, 'scalar');
  message(writer, 2, () => {
    for (const name of Object.keys(outputs[0] ?? {})) {
      const parts = outputs.map((output) => output[name]!);
      const ends = [0];
      for (const part of parts) ends.push(ends.at(-1)! + part.byteLength);
      entry(writer, 2, name, () =>
        message(writer, 2, () => {
          bytes(writer, 1, concatenated(parts));
          bytes(writer, 2, rawBytes(BigInt64Array.from(ends, BigInt)));
          writer.tag(3, WireType.Varint).int32(float32);
        }),
      );
    }
    writer.tag(3, WireType.Varint).int64(outputs.length);
  });
  for (const [name, value] of Object.entries(metrics))
    entry(writer, 3, name, () => writer.tag(2, WireType.Bit64).double(value));
  return writer.finish();
}

/** @throws TurnwiseError `tinker-garbled` */
export function decodeForwardBackwardOutput(body: Uint8Array): ForwardBackwardOutput {
  const outputs: Record<string, Float32Array>[] = [];
  const metrics: Record<string, number> = {};
  fields(body, {
    2: (reader) => outputs.push(...readRecord(reader.bytes())),
    3: (reader) => {
      const [name, value] = readEntry(reader.bytes(), (inner) => inner.double());
      metrics[name] = value ?? 0;
    },
  });
  return { outputs, metrics };
}

/** One record holds many data: each field is one long tensor, cut at byte offsets. */
function readRecord(body: Uint8Array): Record<string, Float32Array>[] {
  const columns = new Map<string, Float32Array[]>();
  let count = 0;
  fields(body, {
    2: (reader) => {
      const [name, parts] = readEntry(reader.bytes(), (inner) => readBatched(inner.bytes()));
      columns.set(name, parts ?? []);
    },
    3: (reader) => {
      count = Number(reader.int64());
    },
  });
  for (const [name, parts] of columns) {
    if (count === 0) count = parts.length;
    if (parts.length !== count)
      throw garbled(
        'a record says one number of data and holds another',
        `${count}, ${parts.length} of ${name}`,
      );
  }
  return Array.from({ length: count }, (_, index) =>
    Object.fromEntries([...columns].map(([name, parts]) => [name, parts[index]!])),
  );
}

function readBatched(body: Uint8Array): Float32Array[] {
  let data: Uint8Array = new Uint8Array(0);
  let offsets: readonly number[] = [];
  let dtype = 0;
  fields(body, {
    1: (reader) => {
      data = reader.bytes();
    },
    2: (reader) => {
      offsets = Array.from(viewOf(BigInt64Array, reader.bytes()), Number);
    },
    3: (reader) => {
      dtype = reader.int32();
    },
  });
  return offsets.slice(1).map((end, index) => {
    const start = offsets[index]!;
    if (!(start >= 0 && end >= start && end <= data.byteLength))
      throw garbled('offsets are outside their tensor', `${start} to ${end} of ${data.byteLength} bytes`);
    return Float32Array.from(numbersOf(data.subarray(start, end), dtype));
  });
}

export function encodeSampleOutput({ sequences, promptLogprobs }: SampleOutput): Uint8Array {
  const writer = new BinaryWriter();
  for (const { tokens, logprobs, finish } of sequences) {
    message(writer, 1, () => {
      if (finish === 'length') writer.tag(1, WireType.Varint).int32(1);
      bytes(writer, 2, rawBytes(Int32Array.from(tokens)));
      bytes(writer, 3, rawBytes(Float32Array.from(logprobs)));
    });
  }
  if (promptLogprobs)
    bytes(writer, 2, rawBytes(Float32Array.from(promptLogprobs, (value) => value ?? Number.NaN)));
  return writer.finish();
}

/** @throws TurnwiseError `tinker-garbled` */
export function decodeSampleOutput(body: Uint8Array): SampleOutput {
  const sequences: SampledSequence[] = [];
  let promptLogprobs: (number | null)[] | undefined;
  fields(body, {
    1: (reader) => sequences.push(readSequence(reader.bytes())),
    2: (reader) => {
      promptLogprobs = Array.from(viewOf(Float32Array, reader.bytes()), (value) =>
        Number.isNaN(value) ? null : value,
      );
    },
  });
  return { sequences, ...(promptLogprobs && { promptLogprobs }) };
}

function readSequence(body: Uint8Array): SampledSequence {
  let finish: 'stop' | 'length' = 'stop';
  let tokens: readonly number[] = [];
  let logprobs: readonly number[] = [];
  fields(body, {
    1: (reader) => {
      finish = reader.int32() === 1 ? 'length' : 'stop';
    },
    2: (reader) => {
      tokens = Array.from(viewOf(Int32Array, reader.bytes()));
    },
    3: (reader) => {
      logprobs = Array.from(viewOf(Float32Array, reader.bytes()));
    },
  });
  return { tokens, logprobs, finish };
}

type FieldReader = (reader: BinaryReader, type: WireType) => void;

/** Reads every field of a message with the reader of its number; unknown ones are passed over. */
function fields(body: Uint8Array, readers: Readonly<Record<number, FieldReader>>): void {
  const reader = new BinaryReader(body);
  try {
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag();
      const read = readers[field];
      if (read) read(reader, type);
      else reader.skip(type, field);
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error) throw error;
    throw garbled('its protobuf is broken', String(error), error);
  }
}

function readEntry<T>(body: Uint8Array, value: (reader: BinaryReader) => T): [string, T | undefined] {
  let key = '';
  let held: T | undefined;
  fields(body, {
    1: (reader) => {
      key = reader.string();
    },
    2: (reader) => {
      held = value(reader);
    },
  });
  return [key, held];
}

function numbersOf(raw: Uint8Array, dtype: number): NumberArray {
  switch (dtype) {
    case float32:
      return viewOf(Float32Array, raw);
    case int32:
      return viewOf(Int32Array, raw);
    case int64:
      return Int32Array.from(viewOf(BigInt64Array, raw), (value) => {
        if (BigInt.asIntN(32, value) !== value) throw garbled('a whole number is too large', String(value));
        return Number(value);
      });
    case bfloat16:
      // The upper half of a 32-bit float.
      return new Float32Array(Uint32Array.from(viewOf(Uint16Array, raw), (value) => value << 16).buffer);
    default:
      throw garbled('a tensor has an unknown type of numbers', String(dtype));
  }
}

interface ArrayKind<T> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBuffer): T;
}

/** A copy, because bytes inside a message need not lie where numbers of their size may. */
function viewOf<T>(kind: ArrayKind<T>, raw: Uint8Array): T {
  if (raw.byteLength % kind.BYTES_PER_ELEMENT !== 0)
    throw garbled('a tensor ends in the middle of a number', `${raw.byteLength} bytes`);
  return new kind(new Uint8Array(raw).buffer);
}

function rawBytes(values: Float32Array | Int32Array | BigInt64Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

function joined(parts: readonly Int32Array[]): Int32Array {
  if (parts.length === 1) return parts[0]!;
  return Int32Array.from(parts.flatMap((part) => [...part]));
}

function concatenated(parts: readonly Float32Array[]): Uint8Array {
  return Buffer.concat(parts.map(rawBytes));
}

function text(writer: BinaryWriter, field: number, value: string): void {
  writer.tag(field, WireType.LengthDelimited).string(value);
}

function integer(writer: BinaryWriter, field: number, value: number): void {
  writer.tag(field, WireType.Varint).int32(value);
}

function bytes(writer: BinaryWriter, field: number, value: Uint8Array): void {
  writer.tag(field, WireType.LengthDelimited).bytes(value);
}

function message(writer: BinaryWriter, field: number, write: () => void): void {
  writer.tag(field, WireType.LengthDelimited).fork();
  write();
  writer.join();
}

function entry(writer: BinaryWriter, field: number, key: string, value: () => void): void {
  message(writer, field, () => {
    text(writer, 1, key);
    value();
  });
}
