/** Replaced by the guard's. */
import type { Facts } from '../core/facts.ts';
import type { Json } from '../core/json.ts';
import { factsOf } from '../credit/facts.ts';

export function parseFacts(value: Json, subject: string): Facts {
  const { turn, trajectory } = factsOf({ credit: value }, subject);
  return { ...turn, ...trajectory } as Facts;
}
