/**
 * Large data that the states of an environment stand on: a state holds its name and what was changed of it, so that checks,
 * anchors, snapshots, records and the wire never see the data itself.
 */

import { TurnwiseError } from '../core/errors.ts';
import { fingerprint } from '../core/fingerprint.ts';
import { canonicalJson, findNonJson, type Json, type JsonObject } from '../core/json/json.ts';
import type { JsonCompatible } from '../core/json/json-compatible.ts';

/** Keys and indices that lead into the data. */
export type DataPath = readonly (string | number)[];

/** A state, or a part of one, that stands on a base. A type alias, since interfaces are not assignable to `Json`. */
export type Based = {
  /** Name and hash of the data. */
  readonly base: string;
  /** By path, written as `/orders/7/status`: the new value in a list, or an empty list where it was removed. */
  readonly changes: { readonly [path: string]: readonly [] | readonly [Json] };
};

export interface Base<Data> {
  /** Name and hash. */
  readonly id: string;
  /** As it was given, frozen. */
  readonly data: Data;
  /** What a state begins with. */
  readonly unchanged: Based;
  /** What lies at a path in a state; undefined where nothing does. Costs no more than that part of the data. */
  get(state: Based, path: DataPath): Json | undefined;
  /** The data with the changes of a state. What is unchanged is shared; tables with a change in them are copied. Frozen. */
  view(state: Based): Data;
  /** The state with another value at a path; what lies on the way must be there. An index at the end of an array appends. */
  set(state: Based, path: DataPath, value: Json): Based;
  /** The state without a key of an object. */
  remove(state: Based, path: DataPath): Based;
}

/**
 * A base for the states of an environment. The data is frozen here and hashed once; a state of other data is refused.
 *
 * @throws TurnwiseError `base-invalid` for data that is not JSON, a path that leads nowhere, and a state of another base
 *
 * @example
 * const shop = defineBase('shop', JSON.parse(readFileSync('shop.json', 'utf8')));
 * // start: () => ({ state: shop.unchanged, messages: [user('cancel order 7')] }),
 * // step: (state) => {
 * //   const status = shop.get(state, ['orders', '7', 'status']);
 * //   const next = shop.set(state, ['orders', '7', 'status'], 'cancelled');
 */
export function defineBase<Data extends JsonCompatible<Data>>(name: string, data: Data): Base<Data> {
  const path = findNonJson(data);
  if (path !== undefined) throw invalid(name, 'holds something that is not JSON', `at ${path}`, 'plain JSON');
  const id = `${name}@${fingerprint(canonicalJson(data as Json))}`;
  freezeAll(data as Json);
  const unchanged: Based = Object.freeze({ base: id, changes: Object.freeze({}) });
  /** Views by the changes that they show, as long as a state holds those. */
  const views = new WeakMap<object, Json>([[unchanged.changes, data as Json]]);

  /** Without what was changed within it. */
  const walk = ({ base, changes }: Based, keys: readonly string[]): Json | undefined => {
    if (base !== id) throw invalid(name, 'is not what a state stands on', base, id);
    let value: Json | undefined = data as Json;
    for (const [depth, key] of ['', ...keys].entries()) {
      if (depth > 0)
        value = isTable(value) && Object.hasOwn(value, key) ? (value as JsonObject)[key] : undefined;
      const changed = ownChange(changes, pathText(keys.slice(0, depth)));
      if (changed) value = changed[0];
    }
    return value;
  };
  const get = (state: Based, keys: readonly string[]): Json | undefined => {
    const value = walk(state, keys);
    if (value === undefined) return undefined;
    const here = `${pathText(keys)}/`;
    // Parents first: what was changed within them came later.
    const within = Object.keys(state.changes)
      .filter((path) => path.startsWith(here))
      .sort((a, b) => a.length - b.length);
    return within.reduce(
      (whole, path) => edited(whole, keysIn(path).slice(keys.length), state.changes[path]!),
      value,
    );
  };
  const view = (state: Based): Json => {
    const known = views.get(state.changes);
    if (known !== undefined && state.base === id) return known;
    const made = get(state, [])!;
    views.set(state.changes, made);
    return made;
  };
  const change = (state: Based, path: DataPath, value: readonly [] | readonly [Json]): Based => {
    const keys = path.map(String);
    const last = keys.pop();
    if (last === undefined)
      throw invalid(name, 'cannot be changed whole', 'an empty path', 'a path into the data');
    const parent = walk(state, keys);
    if (!isTable(parent)) {
      throw invalid(
        name,
        'has nothing at a path',
        pathText(keys),
        'existing keys of objects and indices of arrays',
      );
    }
    if (Array.isArray(parent)) {
      const { length } = get(state, keys) as readonly Json[];
      const index = Number(last);
      if (value.length === 0 || !Number.isInteger(index) || index < 0 || index > length) {
        const allowed =
          'an index in it, or the one after the last; set the whole array to take something out';
        throw invalid(name, 'has nothing at a path', `"${last}" of an array of ${length}`, allowed);
      }
    }
    const key = pathText(path);
    const others = Object.entries(state.changes).filter(([other]) => !`${other}/`.startsWith(`${key}/`));
    return { base: id, changes: Object.fromEntries([...others, [key, value]]) };
  };
  return {
    id,
    data,
    unchanged,
    get: (state, path) => get(state, path.map(String)),
    view: (state) => view(state) as unknown as Data,
    set: (state, keys, value) => {
      freezeAll(value);
      return change(state, keys, [value]);
    },
    remove: (state, keys) => change(state, keys, []),
  };
}

/** `whole` with one change in it, copied along the way; that all of the path is there was seen when the change was made. */
function edited(whole: Json, keys: readonly string[], value: readonly [] | readonly [Json]): Json {
  const [key = '', ...rest] = keys;
  const inner = rest.length > 0 ? edited((whole as JsonObject)[key]!, rest, value) : value[0];
  if (Array.isArray(whole)) {
    const copy: Json[] = [...(whole as readonly Json[])];
    copy[Number(key)] = inner!;
    return Object.freeze(copy);
  }
  const { [key]: _, ...others } = whole as JsonObject;
  return Object.freeze(inner === undefined ? others : { ...(whole as JsonObject), [key]: inner });
}

const isTable = (value: Json | undefined): value is JsonObject | readonly Json[] =>
  typeof value === 'object' && value !== null;

const ownChange = (changes: Based['changes'], path: string): readonly [] | readonly [Json] | undefined =>
  Object.hasOwn(changes, path) ? changes[path] : undefined;

/** As in JSON Pointer (RFC 6901). */
const pathText = (keys: DataPath): string =>
  keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

const keysIn = (path: string): string[] =>
  path
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));

function freezeAll(value: Json): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const item of Object.values(value)) freezeAll(item as Json);
}

function invalid(name: string, what: string, seen: string, allowed: string): TurnwiseError {
  return new TurnwiseError('base-invalid', {
    what: `The base "${name}" ${what}`,
    seen: seen.slice(0, 200),
    allowed,
    fields: { base: name },
  });
}
