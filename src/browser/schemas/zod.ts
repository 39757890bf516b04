/** `z`, as bundles for browsers have it. */

import {
  ArraySchema,
  ChoiceSchema,
  NumberSchema,
  ObjectSchema,
  PlainSchema,
  RecordSchema,
  StringSchema,
  UnionSchema,
  UnknownSchema,
} from './kinds.ts';
import { Default, Prefault, Schema } from './schema.ts';

type Shape = Readonly<Record<string, Schema>>;

const json: Schema = new UnionSchema(() => [
  ...[new StringSchema(), new NumberSchema(), z.boolean(), z.null()],
  ...[new ArraySchema(json), new RecordSchema(json)],
]);

export const z = {
  number: () => new NumberSchema(),
  int: () => new NumberSchema().int(),
  string: () => new StringSchema(),
  boolean: () => new PlainSchema('boolean', (value) => typeof value === 'boolean'),
  null: () => new PlainSchema('null', (value) => value === null),
  never: () => new PlainSchema('never', () => false),
  unknown: () => new UnknownSchema(),
  json: () => json,
  literal: (value: unknown) => new ChoiceSchema(Array.isArray(value) ? value : [value]),
  enum: (options: readonly string[]) => new ChoiceSchema(options),
  array: (element: Schema) => new ArraySchema(element),
  record: (_key: Schema, value: Schema) => new RecordSchema(value),
  union: (options: readonly Schema[], { error }: { readonly error?: string } = {}) =>
    new UnionSchema(() => options, error),
  object: (shape: Shape) => new ObjectSchema(shape, 'dropped'),
  strictObject: (shape: Shape) => new ObjectSchema(shape, 'refused'),
  looseObject: (shape: Shape) => new ObjectSchema(shape, 'kept'),
  ZodType: Schema,
  ZodObject: ObjectSchema,
  ZodDefault: Default,
  ZodPrefault: Prefault,
  ZodUnknown: UnknownSchema,
};
