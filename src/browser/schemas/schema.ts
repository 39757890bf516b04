/**
 * A schema as settings need it: the part of zod's interface that modules for browsers use, with its results and its messages.
 * Bundles for browsers have it in the place of zod (tools/build-browser.mjs); everything else has zod itself.
 */

export interface Issue {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** Of unrecognized keys. */
  readonly keys?: readonly string[];
  /** Later checks still run. */
  readonly goesOn?: boolean;
}

export interface Read {
  readonly value: unknown;
  readonly issues: readonly Issue[];
}

export type Check = (value: unknown) => Issue | undefined;

/** Whether a key may be absent: it then stays absent, or something takes its place. */
export type Absence = 'optional' | 'defaulted' | undefined;

type Parsed =
  | { readonly success: true; readonly data: unknown }
  | { readonly success: false; readonly error: SchemaError };

export class SchemaError extends Error {
  readonly issues: readonly Issue[];

  constructor(issues: readonly Issue[]) {
    super(issues.map(({ path, message }) => [...path.map(String), message].join(': ')).join('; '));
    this.issues = issues;
  }
}

export abstract class Schema {
  readonly description: string | undefined = undefined;
  readonly checks: readonly Check[] = [];
  /** What it wraps and what it takes besides its keys, under the names that zod has for them. */
  readonly def: { readonly innerType?: Schema; readonly catchall?: Schema } = {};
  /** Of an absent key, before and after. */
  readonly absence: Absence = undefined;
  readonly staysAbsent: boolean = false;

  protected abstract read(value: unknown): Read;

  run(value: unknown): Read {
    const { value: read, issues } = this.read(value);
    const found = [...issues];
    for (const check of this.checks) {
      if (found.some(({ goesOn }) => goesOn !== true)) break;
      const issue = check(read);
      if (issue !== undefined) found.push(issue);
    }
    return { value: read, issues: found };
  }

  safeParse(value: unknown): Parsed {
    const { value: data, issues } = this.run(value);
    return issues.length === 0
      ? { success: true, data }
      : { success: false, error: new SchemaError(issues.map(({ goesOn: _, ...issue }) => issue)) };
  }

  parse(value: unknown): unknown {
    const parsed = this.safeParse(value);
    if (parsed.success) return parsed.data;
    throw parsed.error;
  }

  /** The same with these changes. */
  protected with(changes: object): this {
    return Object.assign(Object.create(Object.getPrototypeOf(this) as object) as this, this, changes);
  }

  protected checked(check: Check): this {
    return this.with({ checks: [...this.checks, check] });
  }

  describe(description: string): this {
    return this.with({ description });
  }

  /** @param path of the part that messages name */
  refine(
    accepts: (value: never) => unknown,
    {
      error = 'Invalid input',
      path = [],
    }: { readonly error?: string; readonly path?: readonly PropertyKey[] } = {},
  ): this {
    return this.checked((value) =>
      accepts(value as never) ? undefined : { code: 'custom', path, message: error, goesOn: true },
    );
  }

  default(value: unknown): Wrapper {
    return new Default(this, value);
  }

  prefault(value: unknown): Wrapper {
    return new Prefault(this, value);
  }

  optional(): Schema {
    return new Optional(this);
  }

  nullable(): Schema {
    return new Nullable(this);
  }

  nullish(): Schema {
    return this.nullable().optional();
  }

  transform(change: (value: never) => unknown): Schema {
    return new Transformed(this, change);
  }
}

/** What the value is, as messages say it. */
function kindOf(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value !== 'object') return typeof value;
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype === Object.prototype || !('constructor' in value)) return 'object';
  return value.constructor.name;
}

export function wrongType(expected: string, value: unknown): Issue {
  return {
    code: 'invalid_type',
    path: [],
    message: `Invalid input: expected ${expected}, received ${kindOf(value)}`,
  };
}

export const refused = (value: unknown, issue: Issue): Read => ({ value, issues: [issue] });
export const taken = (value: unknown): Read => ({ value, issues: [] });

/** A schema around another one. */
export abstract class Wrapper extends Schema {
  override readonly def: { readonly innerType: Schema };
  override readonly absence: Absence;

  constructor(inner: Schema, absence: Absence = inner.absence) {
    super();
    this.def = { innerType: inner };
    this.absence = absence;
  }

  unwrap(): Schema {
    return this.def.innerType;
  }

  protected inner(value: unknown): Read {
    return this.unwrap().run(value);
  }
}

/** One level of it is copied, so that nobody changes it for others. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return [...value];
  return typeof value === 'object' && value !== null ? { ...value } : value;
}

/** In the place of nothing there is this value, unchecked. */
export class Default extends Wrapper {
  readonly value: unknown;

  constructor(inner: Schema, value: unknown) {
    super(inner, 'defaulted');
    this.value = value;
  }

  protected override read(given: unknown): Read {
    return given === undefined ? taken(copied(this.value)) : this.inner(given);
  }
}

/** In the place of nothing this value is read. */
export class Prefault extends Wrapper {
  readonly value: unknown;

  constructor(inner: Schema, value: unknown) {
    super(inner, 'defaulted');
    this.value = value;
  }

  protected override read(given: unknown): Read {
    return this.inner(given === undefined ? copied(this.value) : given);
  }
}

export class Optional extends Wrapper {
  override readonly staysAbsent: boolean = true;

  constructor(inner: Schema) {
    super(inner, inner.absence ?? 'optional');
  }

  protected override read(value: unknown): Read {
    return value === undefined && this.unwrap().absence !== 'defaulted' ? taken(value) : this.inner(value);
  }
}

export class Nullable extends Wrapper {
  override readonly staysAbsent: boolean;

  constructor(inner: Schema) {
    super(inner);
    this.staysAbsent = inner.staysAbsent;
  }

  protected override read(value: unknown): Read {
    return value === null ? taken(value) : this.inner(value);
  }
}

class Transformed extends Wrapper {
  readonly change: (value: never) => unknown;

  constructor(inner: Schema, change: (value: never) => unknown) {
    super(inner);
    this.change = change;
  }

  protected override read(value: unknown): Read {
    const read = this.inner(value);
    if (read.issues.length === 0) return taken(this.change(read.value as never));
    // What could not be changed is no value that a later check, or a union, might go on with.
    return { ...read, issues: read.issues.map((issue) => ({ ...issue, goesOn: false })) };
  }
}
