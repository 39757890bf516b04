/** A copy of a stranger's value as plain JSON. Each field is read once, and never again once the copy is made. */

import { cut, thrownText, tried, valueText } from '../safe-text.ts';
import type { Json } from './json.ts';

export interface CopyLimits {
  /** Arrays and objects inside each other. */
  readonly depth: number;
  /** Values altogether. */
  readonly values: number;
  /** Characters of all strings and keys together. */
  readonly characters: number;
}

export const COPY_LIMITS: CopyLimits = { depth: 64, values: 100_000, characters: 1_000_000 };

export type Copied =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly path: string; readonly seen: string; readonly allowed: string };

const PLAIN = 'null, booleans, finite numbers, strings, arrays and plain objects';

/** Why there is no copy. */
class Refusal {
  readonly path: string;
  readonly seen: string;
  readonly allowed: string;

  constructor(path: string, seen: string, allowed: string) {
    this.path = path;
    this.seen = seen;
    this.allowed = allowed;
  }
}

/** Copy `value`, called `path`; or say where and why it is no plain JSON, or too much of it. Never throws. */
export function plainCopy(value: unknown, path: string, limits: CopyLimits = COPY_LIMITS): Copied {
  try {
    return { ok: true, value: new Copier(path, limits).copy(value) };
  } catch (error) {
    const {
      seen,
      allowed,
      path: at,
    } = error instanceof Refusal ? error : new Refusal(path, thrownText(error), PLAIN);
    return { ok: false, path: cut(at, 120), seen, allowed };
  }
}

class Copier {
  readonly #limits: CopyLimits;
  /** Where the value being copied lies, put together only to be told: the root's name, then keys and indices. */
  readonly #place: (string | number)[];
  /** The arrays and objects that it lies in. */
  readonly #inside: object[] = [];
  #values = 0;
  #characters = 0;

  constructor(root: string, limits: CopyLimits) {
    this.#place = [root];
    this.#limits = limits;
  }

  copy(value: unknown): Json {
    this.#count(1, 0);
    if (value === null || typeof value === 'boolean') return value;
    if (typeof value === 'string') {
      this.#count(0, value.length);
      return value;
    }
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    if (typeof value !== 'object') throw this.#refusal(valueText(value), PLAIN);
    if (this.#inside.includes(value)) throw this.#refusal('a cycle', PLAIN);
    if (this.#inside.length >= this.#limits.depth) {
      throw this.#refusal('more levels', `at most ${this.#limits.depth} levels`);
    }
    this.#inside.push(value);
    const copy = Array.isArray(value) ? this.#list(value) : this.#object(value);
    this.#inside.pop();
    return copy;
  }

  #list(list: readonly unknown[]): Json {
    const { length } = list;
    // Before anything is read: an empty array of a billion costs its author nothing.
    if (!(length <= this.#limits.values)) this.#count(Number.POSITIVE_INFINITY, 0);
    const copies: Json[] = [];
    for (let index = 0; index < length; index++) {
      this.#place.push(index);
      copies.push(this.copy(this.#read(list, index)));
      this.#place.pop();
    }
    // As long as its items: what grows item by item keeps room for 16 more.
    return copies.slice();
  }

  #object(object: object): Json {
    if (!isPlain(object)) throw this.#refusal(valueText(object), PLAIN);
    const keys = Object.keys(object);
    let characters = 0;
    for (const key of keys) characters += key.length;
    this.#count(0, characters);
    const copies: Record<string, Json> = {};
    for (const key of keys) {
      this.#place.push(key);
      const item = this.#read(object, key);
      if (item !== undefined) {
        const copy = this.copy(item);
        if (key !== '__proto__') copies[key] = copy;
        // Assigned, it would be no key.
        else
          Object.defineProperty(copies, key, {
            value: copy,
            enumerable: true,
            writable: true,
            configurable: true,
          });
      }
      this.#place.pop();
    }
    return copies;
  }

  #read(from: object, key: string | number): unknown {
    try {
      return (from as Readonly<Record<string | number, unknown>>)[key];
    } catch (error) {
      const thrown = tried(() => cut(thrownText(error), 200), 'something');
      throw this.#refusal(`reading it throws: ${thrown}`, PLAIN);
    }
  }

  #count(values: number, characters: number): void {
    this.#values += values;
    this.#characters += characters;
    const { values: mostValues, characters: mostCharacters } = this.#limits;
    if (this.#values > mostValues) throw this.#refusal('more values', `at most ${mostValues} values`);
    if (this.#characters <= mostCharacters) return;
    throw this.#refusal('more characters', `at most ${mostCharacters} characters`);
  }

  #refusal(seen: string, allowed: string): Refusal {
    const [root, ...keys] = this.#place;
    const path = keys.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
    return new Refusal(`${root}${path}`, seen, allowed);
  }
}

/** An object literal, of this realm or another. */
function isPlain(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
