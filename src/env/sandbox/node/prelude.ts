/**
 * What runs first inside an interpreter. It keeps the functions it needs, so that code which replaces them harms only
 * itself, and hands the output over once a call, already cut. There is no clock and chance is seeded: a call repeated
 * from the same history gives the same result.
 */
export const PRELUDE = `(limit) => {
  const { stringify } = JSON, slice = Function.call.bind(String.prototype.slice);
  let printed = '', dropped = 0, seed = 1;
  const show = (value, quote) => {
    if (typeof value === 'string') return quote ? stringify(value) : value;
    if (typeof value === 'bigint') return value + 'n';
    if (typeof value === 'function') return '[function ' + value.name + ']';
    if (value === null || typeof value !== 'object') return String(value);
    if (value instanceof Error) return value.name + ': ' + value.message;
    if (value instanceof Map || value instanceof Set) return value.constructor.name + ' ' + show([...value], true);
    try {
      return stringify(value, (_, item) => (typeof item === 'bigint' ? item + 'n' : item)) ?? String(value);
    } catch { return String(value); }
  };
  const write = (text) => {
    if (printed !== '') text = '\\n' + text;
    const room = limit - printed.length;
    if (text.length <= room) printed += text;
    else { printed += slice(text, 0, room); dropped += text.length - room; }
  };
  const log = (...values) => {
    let line = '';
    for (let i = 0; i < values.length; i++) line += (i > 0 ? ' ' : '') + show(values[i], false);
    write(line);
  };
  globalThis.console = { log, info: log, warn: log, error: log, debug: log };
  Math.random = () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const told = (thrown) => {
    if (typeof thrown === 'object' && thrown !== null) {
      const { name, message } = thrown;
      if (typeof message === 'string') return (typeof name === 'string' ? name : 'Error') + ': ' + message;
    }
    return show(thrown, false);
  };
  const tell = (thrown) => {
    try { return slice(told(thrown), 0, limit); }
    catch { return 'Error: the thrown value cannot be shown'; }
  };
  const finish = (value) => {
    if (value !== undefined) write(show(value, true));
    const output = dropped > 0 ? printed + '\\n… ' + dropped + ' more characters' : printed;
    printed = '';
    dropped = 0;
    return output;
  };
  const json = (value) => {
    try {
      const text = stringify(value);
      return text.length <= 1000000 ? text : undefined;
    } catch {}
  };
  return { finish, tell, json };
}`;
