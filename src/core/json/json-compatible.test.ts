/** What the compiler accepts as JSON. The lines that say what it refuses are checked by `npm run types`. */

import { expectTypeOf, test } from 'vitest';
import type { Json } from './json.ts';
import type { JsonCompatible } from './json-compatible.ts';

/** Accepts a type argument if it holds nothing but JSON. */
function holds<T extends JsonCompatible<T>>(): T | undefined {
  return undefined;
}

interface Tree {
  readonly name: string;
  readonly children: readonly Tree[];
}

interface Everything {
  readonly count: number;
  readonly flags: readonly boolean[];
  readonly pair: readonly [number, string | null];
  readonly counts: Readonly<Record<string, number>>;
  readonly tree: Tree;
  readonly rest: Json;
  readonly optional?: Tree;
  readonly absent: string | undefined;
  mutable: { list: Tree[] };
}

interface Walking {
  readonly mode: 'walking';
  readonly at: readonly [number, number];
}

interface Waiting {
  readonly mode: 'waiting';
  readonly at?: undefined;
}

class Counter {
  count = 0;
  add(): void {
    this.count++;
  }
}

test('interfaces, aliases, unions and plain values are JSON', () => {
  expectTypeOf(holds<Everything>()).toEqualTypeOf<Everything | undefined>();
  expectTypeOf(holds<Tree[]>()).toEqualTypeOf<Tree[] | undefined>();
  expectTypeOf(holds<Walking | Waiting>()).toEqualTypeOf<Walking | Waiting | undefined>();
  expectTypeOf(holds<{ readonly n: number } | null>()).toEqualTypeOf<
    { readonly n: number } | null | undefined
  >();
  expectTypeOf(holds<Json>()).toEqualTypeOf<Json | undefined>();
  expectTypeOf(holds<'a' | 1 | true>()).toEqualTypeOf<'a' | 1 | true | undefined>();
});

test('everything else is not', () => {
  // @ts-expect-error 'A Date is not JSON: keep it as a string or a number'
  holds<{ readonly at: Date }>();
  // @ts-expect-error Only plain objects and arrays are JSON
  holds<{ readonly counts: Map<string, number> }>();
  // @ts-expect-error Only plain objects and arrays are JSON
  holds<{ readonly seen: ReadonlySet<string> }>();
  // @ts-expect-error Only plain objects and arrays are JSON
  holds<{ readonly pixels: Uint8Array }>();
  // @ts-expect-error Only plain objects and arrays are JSON
  holds<Promise<number>>();
  // @ts-expect-error A function is not JSON
  holds<{ readonly deep: readonly { run(): void }[] }>();
  // @ts-expect-error A function is not JSON
  holds<Counter>();
  // @ts-expect-error A bigint is not JSON
  holds<{ readonly big: bigint }>();
  // @ts-expect-error A symbol is not JSON
  holds<{ readonly key: symbol }>();
  // @ts-expect-error undefined is not JSON
  holds<readonly (string | undefined)[]>();
  // @ts-expect-error undefined is not JSON
  holds<undefined>();
  // @ts-expect-error unknown is not known to be JSON
  holds<{ readonly rest: unknown }>();
  // @ts-expect-error one of them is not JSON
  holds<Walking | Date>();
});
