/** Kinds of values: numbers, texts, choices, lists, objects. */

import { type Check, type Issue, type Read, refused, Schema, taken, wrongType } from './schema.ts';

interface Bound {
  readonly than: number;
  readonly inclusive: boolean;
}

function tooSmall(origin: string, { than, inclusive }: Bound, unit = ''): Issue {
  const verb = unit === '' ? 'to be' : 'to have';
  const message = `Too small: expected ${origin} ${verb} ${inclusive ? '>=' : '>'}${than}${unit}`;
  return { code: 'too_small', path: [], message, goesOn: true };
}

function tooBig(origin: string, { than, inclusive }: Bound, unit = ''): Issue {
  const verb = unit === '' ? 'to be' : 'to have';
  const message = `Too big: expected ${origin} ${verb} ${inclusive ? '<=' : '<'}${than}${unit}`;
  return { code: 'too_big', path: [], message, goesOn: true };
}

const whole: Check = (value) => {
  if (!Number.isInteger(value)) return wrongType('int', value);
  if (Number.isSafeInteger(value)) return undefined;
  return (value as number) > 0
    ? tooBig('int', { than: Number.MAX_SAFE_INTEGER, inclusive: true })
    : tooSmall('int', { than: Number.MIN_SAFE_INTEGER, inclusive: true });
};

export class NumberSchema extends Schema {
  protected override read(value: unknown): Read {
    return typeof value === 'number' && Number.isFinite(value)
      ? taken(value)
      : refused(value, wrongType('number', value));
  }

  protected above(bound: Bound): this {
    const { than, inclusive } = bound;
    return this.checked((value) =>
      (inclusive ? (value as number) >= than : (value as number) > than)
        ? undefined
        : tooSmall('number', bound),
    );
  }

  protected below(bound: Bound): this {
    const { than, inclusive } = bound;
    return this.checked((value) =>
      (inclusive ? (value as number) <= than : (value as number) < than)
        ? undefined
        : tooBig('number', bound),
    );
  }

  int(): this {
    return this.checked(whole);
  }

  min(than: number): this {
    return this.above({ than, inclusive: true });
  }

  gt(than: number): this {
    return this.above({ than, inclusive: false });
  }

  max(than: number): this {
    return this.below({ than, inclusive: true });
  }

  lt(than: number): this {
    return this.below({ than, inclusive: false });
  }

  positive(): this {
    return this.gt(0);
  }

  nonnegative(): this {
    return this.min(0);
  }
}

/** What has a length: texts and lists. */
abstract class Sized extends Schema {
  protected abstract readonly origin: string;
  protected abstract readonly unit: string;

  min(than: number): this {
    return this.checked((value) =>
      lengthOf(value) >= than ? undefined : tooSmall(this.origin, { than, inclusive: true }, this.unit),
    );
  }

  max(than: number): this {
    return this.checked((value) =>
      lengthOf(value) <= than ? undefined : tooBig(this.origin, { than, inclusive: true }, this.unit),
    );
  }
}

const lengthOf = (value: unknown): number => [...(value as Iterable<unknown>)].length;

export class StringSchema extends Sized {
  protected override readonly origin = 'string';
  protected override readonly unit = ' characters';

  protected override read(value: unknown): Read {
    return typeof value === 'string' ? taken(value) : refused(value, wrongType('string', value));
  }
}

export class ArraySchema extends Sized {
  protected override readonly origin = 'array';
  protected override readonly unit = ' items';
  readonly element: Schema;

  constructor(element: Schema) {
    super();
    this.element = element;
  }

  protected override read(value: unknown): Read {
    if (!Array.isArray(value)) return refused(value, wrongType('array', value));
    const read = value.map((item: unknown, index) => within(index, runOf(this.element, item)));
    return { value: read.map((item) => item.value), issues: read.flatMap(({ issues }) => issues) };
  }
}

/** A value of one type, or whatever `accepts`. */
export class PlainSchema extends Schema {
  readonly accepts: (value: unknown) => boolean;
  readonly expected: string;

  constructor(expected: string, accepts: (value: unknown) => boolean) {
    super();
    this.expected = expected;
    this.accepts = accepts;
  }

  protected override read(value: unknown): Read {
    return this.accepts(value) ? taken(value) : refused(value, wrongType(this.expected, value));
  }
}

export class UnknownSchema extends Schema {
  protected override read(value: unknown): Read {
    return taken(value);
  }
}

/** One of these values. */
export class ChoiceSchema extends Schema {
  readonly options: readonly unknown[];

  constructor(options: readonly unknown[]) {
    super();
    this.options = options;
  }

  protected override read(value: unknown): Read {
    if (this.options.includes(value)) return taken(value);
    const told = this.options.map((one) => (typeof one === 'string' ? `"${one}"` : String(one)));
    const message =
      told.length === 1
        ? `Invalid input: expected ${told[0]}`
        : `Invalid option: expected one of ${told.join('|')}`;
    return refused(value, { code: 'invalid_value', path: [], message });
  }
}

export class UnionSchema extends Schema {
  readonly options: () => readonly Schema[];
  readonly error: string;

  constructor(options: () => readonly Schema[], error = 'Invalid input') {
    super();
    this.options = options;
    this.error = error;
  }

  protected override read(value: unknown): Read {
    const all = this.options().map((option) => option.run(value));
    const fits = all.find(({ issues }) => issues.length === 0);
    if (fits) return fits;
    const near = all.filter(({ issues }) => issues.every(({ goesOn }) => goesOn));
    if (near.length === 1) return near[0]!;
    return refused(value, { code: 'invalid_union', path: [], message: this.error });
  }
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || prototype === Object.prototype;
}

/** Any names, each with such a value. */
export class RecordSchema extends Schema {
  readonly value: Schema;

  constructor(value: Schema) {
    super();
    this.value = value;
  }

  protected override read(value: unknown): Read {
    if (!isPlainObject(value)) return refused(value, wrongType('record', value));
    const read = Object.entries(value)
      .filter(([key]) => key !== '__proto__')
      .map(([key, own]) => [key, within(key, runOf(this.value, own))] as const);
    return {
      value: Object.fromEntries(read.map(([key, own]) => [key, own.value])),
      issues: read.flatMap(([, { issues }]) => issues),
    };
  }
}

type Shape = Readonly<Record<string, Schema>>;

/** What it does with keys that it does not know. */
export type Others = 'refused' | 'kept' | 'dropped';

export class ObjectSchema extends Schema {
  readonly shape: Shape;
  readonly others: Others;
  override readonly def: { readonly catchall?: Schema };

  constructor(shape: Shape, others: Others) {
    super();
    this.shape = shape;
    this.others = others;
    this.def = others === 'kept' ? { catchall: new UnknownSchema() } : {};
  }

  extend(more: Shape): ObjectSchema {
    return new ObjectSchema({ ...this.shape, ...more }, this.others);
  }

  omit(left: Readonly<Record<string, true>>): ObjectSchema {
    const kept = Object.entries(this.shape).filter(([key]) => left[key] === undefined);
    return new ObjectSchema(Object.fromEntries(kept), this.others);
  }

  protected override read(value: unknown): Read {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return refused(value, wrongType('object', value));
    const given = value as Readonly<Record<string, unknown>>;
    const result: Record<string, unknown> = {};
    const issues: Issue[] = [];
    for (const [key, schema] of Object.entries(this.shape)) {
      const isPresent = key in given;
      const { absence, staysAbsent } = absenceOf(schema);
      if (!isPresent && absence === 'optional' && staysAbsent) continue;
      const read = within(key, runOf(schema, given[key]));
      issues.push(...read.issues);
      if (!isPresent && absence === undefined) {
        if (read.issues.length === 0) issues.push({ ...wrongType('nonoptional', undefined), path: [key] });
        continue;
      }
      if (read.value !== undefined || isPresent) result[key] = read.value;
    }
    const strange = Object.keys(given).filter((key) => !Object.hasOwn(this.shape, key));
    if (this.others === 'kept') for (const key of strange) if (key !== '__proto__') result[key] = given[key];
    if (this.others === 'refused' && strange.length > 0) {
      const message = `Unrecognized key${strange.length > 1 ? 's' : ''}: ${strange.map((key) => `"${key}"`).join(', ')}`;
      issues.push({ code: 'unrecognized_keys', path: [], keys: strange, message, goesOn: true });
    }
    return { value: result, issues };
  }
}

function within(key: PropertyKey, { value, issues }: Read): Read {
  return { value, issues: issues.map((issue) => ({ ...issue, path: [key, ...issue.path] })) };
}

/** Of ours, or of a schema that whoever uses the module made with zod itself. */
function runOf(schema: Schema, value: unknown): Read {
  if (schema instanceof Schema) return schema.run(value);
  const parsed = (schema as Schema).safeParse(value);
  return parsed.success ? taken(parsed.data) : { value, issues: parsed.error.issues };
}

function absenceOf(schema: Schema): Pick<Schema, 'absence' | 'staysAbsent'> {
  if (schema instanceof Schema) return schema;
  const { success } = (schema as Schema).safeParse(undefined);
  return { absence: success ? 'defaulted' : undefined, staysAbsent: false };
}
