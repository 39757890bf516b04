/**
 * The fields of a message, counted before anything decodes it: a decoder makes an object of every message, and two bytes on the
 * wire are an empty one.
 */

import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** A datum of a training request has some eighteen, and clients are asked to send 1,024 data at once. */
export const mostFields = 250_000;

/** What a reader meets under a number: where it goes on inside, and how it is written. */
interface Expected {
  readonly wireType: WireType;
  /** Many numbers in one field. */
  readonly packed?: true;
  readonly inside?: () => Fields;
}
type Fields = ReadonlyMap<number, Expected>;

/**
 * Why a message must not be decoded; undefined where it may, and where it is broken in a way that its decoder tells. Reads no
 * further than the field that is one too many.
 */
export function fieldProblem(
  schema: DescMessage,
  body: Uint8Array,
  most: number = mostFields,
): string | undefined {
  const reader = new BinaryReader(body);
  let left = most;
  const problemIn = (fields: Fields, end: number): string | undefined => {
    while (reader.pos < end) {
      const [number, wireType] = reader.tag();
      if (wireType === WireType.StartGroup || wireType === WireType.EndGroup) return 'groups of fields';
      const expected = fields.get(number);
      const isPacked = expected?.packed === true && wireType === WireType.LengthDelimited;
      if (expected && expected.wireType !== wireType && !isPacked)
        return `field ${number} as wire type ${wireType}`;
      // Of packed numbers each has one byte at least.
      left -= 1;
      if (expected?.inside || isPacked) {
        const length = reader.uint32();
        if (isPacked) [left, reader.pos] = [left - length, reader.pos + length];
        const problem = expected.inside && problemIn(expected.inside(), reader.pos + length);
        if (problem !== undefined) return problem;
      } else reader.skip(wireType, number);
      if (left < 0) return `more than ${most} fields`;
    }
    return undefined;
  };
  try {
    return problemIn(fieldsOf(schema), body.byteLength);
  } catch {
    return undefined;
  }
}

const known = new WeakMap<DescMessage, Fields>();

function fieldsOf(schema: DescMessage): Fields {
  const before = known.get(schema);
  if (before) return before;
  const fields: Fields = new Map(schema.fields.map((field) => [field.number, expectedOf(field)]));
  known.set(schema, fields);
  return fields;
}

function expectedOf(field: DescField): Expected {
  switch (field.fieldKind) {
    case 'message':
      return messageField(() => fieldsOf(field.message));
    case 'map': {
      const { mapKey, message, scalar } = field;
      const value = message ? messageField(() => fieldsOf(message)) : scalarField(scalar);
      const entry: Fields = new Map([
        [1, scalarField(mapKey)],
        [2, value],
      ]);
      return messageField(() => entry);
    }
    case 'list': {
      const { message, scalar } = field;
      if (message) return messageField(() => fieldsOf(message));
      const one = scalarField(scalar);
      return one.wireType === WireType.LengthDelimited ? one : { ...one, packed: true };
    }
    default:
      return scalarField(field.scalar);
  }
}

const messageField = (inside: () => Fields): Expected => ({ wireType: WireType.LengthDelimited, inside });

/** @param type absent for names of a list of values, which are numbers on the wire */
function scalarField(type: ScalarType = ScalarType.INT32): Expected {
  switch (type) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return { wireType: WireType.LengthDelimited };
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return { wireType: WireType.Bit64 };
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return { wireType: WireType.Bit32 };
    default:
      return { wireType: WireType.Varint };
  }
}
