/** The ONNX file format: a model as protobuf, with the field numbers of onnx.proto. */

import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { ConstantValues, OnnxAttribute } from './graph.ts';
import type { Dim, DType } from './tensor.ts';

export interface OnnxTensor {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly values: ConstantValues;
}

export interface OnnxValue {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly Dim[];
}

export interface OnnxModel {
  readonly nodes: readonly {
    readonly type: string;
    readonly inputs: readonly string[];
    readonly outputs: readonly string[];
    readonly attributes: Readonly<Record<string, OnnxAttribute>>;
    readonly domain: '' | 'com.microsoft';
  }[];
  readonly initializers: readonly OnnxTensor[];
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly OnnxValue[];
}

const irVersion = 10;
const operatorSetVersion = 21;
const elementType: Readonly<Record<DType, number>> = { float32: 1, int64: 7, bool: 9 };
const attributeType = { float: 1, int: 2, string: 3, ints: 7 } as const;

/** The bytes of a model. */
export function encodeModel(model: OnnxModel): Uint8Array {
  const writer = new BinaryWriter();
  integer(writer, 1, irVersion);
  text(writer, 2, 'turnwise');
  message(writer, 7, (graph) => {
    for (const node of model.nodes) message(graph, 1, (inner) => encodeNode(inner, node));
    text(graph, 2, 'turnwise');
    for (const tensor of model.initializers) message(graph, 5, (inner) => encodeTensor(inner, tensor));
    for (const value of model.inputs) message(graph, 11, (inner) => encodeValue(inner, value));
    for (const value of model.outputs) message(graph, 12, (inner) => encodeValue(inner, value));
  });
  for (const [domain, version] of [
    ['', operatorSetVersion],
    ['com.microsoft', 1],
  ] as const) {
    message(writer, 8, (inner) => {
      text(inner, 1, domain);
      integer(inner, 2, version);
    });
  }
  return writer.finish();
}

/**
 * The model with more initializers. What follows a protobuf message continues it, so neither the model nor the values are
 * encoded: all is copied once.
 */
export function appendInitializers(model: Uint8Array, tensors: readonly OnnxTensor[]): Uint8Array {
  const parts = [model];
  for (const { values, ...type } of tensors) {
    const header = new BinaryWriter();
    encodeTensorType(header, type);
    header.tag(9, WireType.LengthDelimited).uint32(values.byteLength);
    const fields = header.finish();
    const tensorBytes = fields.byteLength + values.byteLength;
    const inGraph = new BinaryWriter().tag(5, WireType.LengthDelimited).uint32(tensorBytes).finish();
    const graphBytes = inGraph.byteLength + tensorBytes;
    const inModel = new BinaryWriter().tag(7, WireType.LengthDelimited).uint32(graphBytes).finish();
    parts.push(inModel, inGraph, fields, bytesOf(values));
  }
  return joined(parts);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((total, { byteLength }) => total + byteLength, 0));
  let end = 0;
  for (const part of parts) {
    bytes.set(part, end);
    end += part.byteLength;
  }
  return bytes;
}

function encodeNode(writer: BinaryWriter, node: OnnxModel['nodes'][number]): void {
  for (const input of node.inputs) text(writer, 1, input);
  for (const output of node.outputs) text(writer, 2, output);
  text(writer, 4, node.type);
  for (const [name, value] of Object.entries(node.attributes)) {
    message(writer, 5, (attribute) => {
      text(attribute, 1, name);
      encodeAttribute(attribute, value);
    });
  }
  text(writer, 7, node.domain);
}

function encodeAttribute(writer: BinaryWriter, value: OnnxAttribute): void {
  if (typeof value === 'number') {
    integer(writer, 3, value);
    integer(writer, 20, attributeType.int);
  } else if (typeof value === 'string') {
    text(writer, 4, value);
    integer(writer, 20, attributeType.string);
  } else if ('float' in value) {
    writer.tag(2, WireType.Bit32).float(value.float);
    integer(writer, 20, attributeType.float);
  } else {
    for (const item of value) integer(writer, 8, item);
    integer(writer, 20, attributeType.ints);
  }
}

function encodeTensor(writer: BinaryWriter, { values, ...type }: OnnxTensor): void {
  encodeTensorType(writer, type);
  writer.tag(9, WireType.LengthDelimited).bytes(bytesOf(values));
}

function encodeTensorType(writer: BinaryWriter, { name, dtype, shape }: Omit<OnnxTensor, 'values'>): void {
  for (const size of shape) integer(writer, 1, size);
  integer(writer, 2, elementType[dtype]);
  text(writer, 8, name);
}

function bytesOf(values: ConstantValues): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

function encodeValue(writer: BinaryWriter, { name, dtype, shape }: OnnxValue): void {
  text(writer, 1, name);
  message(writer, 2, (type) =>
    message(type, 1, (tensor) => {
      integer(tensor, 1, elementType[dtype]);
      message(tensor, 2, (dimensions) => {
        for (const size of shape) {
          message(dimensions, 1, (dimension) =>
            typeof size === 'number' ? integer(dimension, 1, size) : text(dimension, 2, size),
          );
        }
      });
    }),
  );
}

function integer(writer: BinaryWriter, field: number, value: number): void {
  writer.tag(field, WireType.Varint).int64(value);
}

function text(writer: BinaryWriter, field: number, value: string): void {
  writer.tag(field, WireType.LengthDelimited).string(value);
}

function message(writer: BinaryWriter, field: number, write: (inner: BinaryWriter) => void): void {
  writer.tag(field, WireType.LengthDelimited).fork();
  write(writer);
  writer.join();
}
