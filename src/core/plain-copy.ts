/** A copy of a stranger's value as plain JSON. Each field is read once, and never again once the copy is made. */

import type { Json } from './json.ts';
import { cut, thrownText, tried, valueText } from './safe-text.ts';

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
    return { ok: true, value: new Copier(limits).copy(value, path, []) };
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
  #values = 0;
  #characters = 0;

  constructor(limits: CopyLimits) {
    this.#limits = limits;
  }

  copy(value: unknown, path: string, ancestors: readonly object[]): Json {
    this.#count(path, 1, 0);
    if (value === null || typeof value === 'boolean') return value;
    if (typeof value === 'string') {
      this.#count(path, 0, value.length);
      return value;
    }
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    if (typeof value !== 'object') throw new Refusal(path, valueText(value), PLAIN);
    if (ancestors.includes(value)) throw new Refusal(path, 'a cycle', PLAIN);
    if (ancestors.length >= this.#limits.depth) {
      throw new Refusal(path, 'more levels', `at most ${this.#limits.depth} levels`);
    }
    const inside = [...ancestors, value];
    return Array.isArray(value) ? this.#list(value, path, inside) : this.#object(value, path, inside);
  }

  #list(list: readonly unknown[], path: string, inside: readonly object[]): Json {
    const { length } = list;
    // Before anything is read: an empty array of a billion costs its author nothing.
    if (!(length <= this.#limits.values)) this.#count(path, Number.POSITIVE_INFINITY, 0);
    const copies: Json[] = [];
    for (let index = 0; index < length; index++) {
      const at = `${path}[${index}]`;
      copies.push(this.copy(read(list, index, at), at, inside));
    }
    return copies;
  }

  #object(object: object, path: string, inside: readonly object[]): Json {
    if (!isPlain(object)) throw new Refusal(path, valueText(object), PLAIN);
    const keys = Object.keys(object);
    this.#count(
      path,
      0,
      keys.reduce((sum, key) => sum + key.length, 0),
    );
    const entries: [string, Json][] = [];
    for (const key of keys) {
      const at = `${path}.${key}`;
      const item = read(object, key, at);
      if (item !== undefined) entries.push([key, this.copy(item, at, inside)]);
    }
    // Defines each key, so that one called __proto__ stays a key.
    return Object.fromEntries(entries);
  }

  #count(path: string, values: number, characters: number): void {
    this.#values += values;
    this.#characters += characters;
    const { values: mostValues, characters: mostCharacters } = this.#limits;
    if (this.#values > mostValues) throw new Refusal(path, 'more values', `at most ${mostValues} values`);
    if (this.#characters <= mostCharacters) return;
    throw new Refusal(path, 'more characters', `at most ${mostCharacters} characters`);
  }
}

/** An object literal, of this realm or another. */
function isPlain(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function read(from: object, key: string | number, path: string): unknown {
  try {
    return (from as Readonly<Record<string | number, unknown>>)[key];
  } catch (error) {
    throw new Refusal(
      path,
      `reading it throws: ${tried(() => cut(thrownText(error), 200), 'something')}`,
      PLAIN,
    );
  }
}
