/** Numbers for tool calls, the same for equal ones, so that what was found out about a pair of calls is found again. */

import type { ToolCall } from '../../report/rollouts.ts';
import { type ComparableCall, comparable } from './tool-similarity.ts';

export interface NumberedCall {
  /** Equal calls have equal numbers. */
  readonly number: number;
  readonly call: ComparableCall;
}

/** A tree of names, parameters and values, in which a call is a path: several times faster than calls as text. */
interface CallTree {
  readonly next: Map<unknown, CallTree>;
  found?: NumberedCall;
}

export function callNumbering(): (call: ToolCall) => NumberedCall {
  const root: CallTree = { next: new Map() };
  let count = 0;
  const step = ({ next }: CallTree, key: unknown): CallTree => {
    let child = next.get(key);
    if (child === undefined) {
      child = { next: new Map() };
      next.set(key, child);
    }
    return child;
  };
  return (call) => {
    let place = step(root, call.name);
    for (const parameter of Object.keys(call.arguments)) {
      const value = call.arguments[parameter]!;
      place = step(place, parameter);
      // A list or an object is two steps, so that it is not taken for the text that it is written as.
      if (typeof value === 'object' && value !== null) place = step(step(place, root), JSON.stringify(value));
      else place = step(place, value);
    }
    place.found ??= { number: count++, call: comparable(call) };
    return place.found;
  };
}
