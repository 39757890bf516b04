/**
 * Words for values that nobody vouches for: what user code threw or returned. Describing one never throws and never takes
 * long, whatever its getters, traps and `toString` do.
 */

/** Longest text made of a stranger's value, in characters. */
export const TEXT_LIMIT = 500;

/** At most `limit` characters of `text`; where it is longer, it says how long it was. */
export function cut(text: string, limit: number = TEXT_LIMIT): string {
  if (text.length <= limit) return text;
  const end = ` … (${text.length} characters)`;
  return `${text.slice(0, Math.max(0, limit - end.length))}${end}`;
}

/** What `read` gives, or `otherwise` where it throws. */
export function tried<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** What was thrown, in words: the message of an error, or the value itself. */
export function thrownText(thrown: unknown, limit: number = TEXT_LIMIT): string {
  const message = tried(() => fieldOf(thrown, 'message'), undefined);
  if (typeof message === 'string' && message !== '') return cut(message, limit);
  if (typeof thrown === 'string' && thrown !== '') return cut(thrown, limit);
  const name = tried(() => (thrown instanceof Error ? thrown.name : undefined), undefined);
  if (typeof name === 'string' && name !== '') return cut(name, limit);
  return `${valueText(thrown)} was thrown`;
}

/** A value in a few words, for "Seen: …". */
export function valueText(value: unknown): string {
  if (value === undefined || value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  if (typeof value === 'string') return cut(JSON.stringify(value.slice(0, 200)), 80);
  if (typeof value === 'bigint') return 'a BigInt';
  if (typeof value === 'symbol') return 'a symbol';
  if (typeof value === 'function') return 'a function';
  return tried(() => objectText(value), 'an object that cannot be read');
}

/** Whether awaiting `value` would wait for something. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (!holdsFields(value)) return false;
  try {
    return typeof value.then === 'function';
  } catch {
    return false;
  }
}

function objectText(value: object): string {
  if (isThenable(value)) return 'a promise';
  if (Array.isArray(value)) return value.length === 1 ? 'an array of 1' : `an array of ${value.length}`;
  const maker: unknown = fieldOf(Object.getPrototypeOf(value), 'constructor');
  const name = typeof maker === 'function' && typeof maker.name === 'string' ? maker.name : '';
  if (name !== '' && name !== 'Object') return `an object of class ${cut(name, 60)}`;
  const keys = Object.keys(value);
  if (keys.length === 0) return 'an empty object';
  const shown = keys.slice(0, 8).map((key) => cut(key, 30));
  return `an object with ${shown.join(', ')}${keys.length > 8 ? ', …' : ''}`;
}

function fieldOf(value: unknown, key: string): unknown {
  return holdsFields(value) ? value[key] : undefined;
}

function holdsFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}
