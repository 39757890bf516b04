/** A check by the compiler that a type holds nothing but JSON. Unlike `Json`, it accepts interfaces. */

import type { Json } from './json.ts';

/** Objects that come back from JSON as something else. */
type NotPlain =
  | Date
  | RegExp
  | ReadonlyMap<never, unknown>
  | ReadonlySet<never>
  | Promise<unknown>
  | ArrayBuffer
  | ArrayBufferView;

/**
 * A type to which `T` can be assigned where JSON can hold it, and cannot where not: its text is then the error message. Written
 * as a constraint: `<State extends JsonCompatible<State>>`. Properties may be optional or undefined, which JSON leaves out;
 * elements of arrays may not. Class instances that only have data look like interfaces here and are refused when they are used.
 */
export type JsonCompatible<T> = [T] extends [infer Known] ? Plain<Known> : never;

/** On its own, because the compiler calls a constraint circular that distributes over its parameter. */
type Plain<T> = T extends Json
  ? Json
  : T extends (...parameters: never) => unknown
    ? 'A function is not JSON: keep data in the state and functions outside it'
    : T extends bigint
      ? 'A bigint is not JSON: keep it as a number or a string'
      : T extends symbol
        ? 'A symbol is not JSON: use a string'
        : T extends undefined
          ? 'undefined is not JSON: use null, or leave the property out'
          : T extends Date
            ? 'A Date is not JSON: keep it as a string or a number'
            : T extends NotPlain
              ? 'Only plain objects and arrays are JSON: keep a Map as an object and a Set as an array'
              : T extends readonly unknown[]
                ? { readonly [Index in keyof T]: Plain<T[Index]> }
                : T extends object
                  ? { readonly [Key in keyof T]: JsonProperty<T[Key]> }
                  : 'unknown is not known to be JSON: give it a type';

type JsonProperty<T> = T extends undefined ? T : Plain<T>;
