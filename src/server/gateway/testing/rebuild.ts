/** What a record says of its calls, worked out from the record alone: for tests. */

import type { Call } from '../../../core/episode.ts';

/** The prompt of each call, by its number: the first `kept` tokens of its parent's prompt and completion, then `context`. */
export function promptsOf(calls: readonly Call[]): Map<number, number[]> {
  const prompts = new Map<number, number[]>();
  const ids = new Map<number, readonly number[]>();
  for (const call of calls) {
    const before = call.parent === undefined ? [] : [...prompts.get(call.parent)!, ...ids.get(call.parent)!];
    prompts.set(call.id, [...before.slice(0, call.kept), ...call.context]);
    ids.set(call.id, [...call.ids]);
  }
  return prompts;
}

/** Numbers of calls that extend one another, for each call that none extends. */
export function pathsOf(calls: readonly Call[]): number[][] {
  const extending = (call: Call): boolean => call.parent !== undefined && call.kept === undefined;
  const extended = new Set(calls.filter(extending).map(({ parent }) => parent));
  const byId = new Map(calls.map((call) => [call.id, call]));
  const upTo = (call: Call): number[] =>
    extending(call) ? [...upTo(byId.get(call.parent!)!), call.id] : [call.id];
  return calls.filter(({ id }) => !extended.has(id)).map(upTo);
}
