/** What free snapshots of pure environments and games hold, read back: it may come from a file. */

import { TurnwiseError } from '../core/errors.ts';
import type { Json, JsonObject } from '../core/json/json.ts';
import { Rng, type RngState } from '../core/rng.ts';

export interface Held {
  readonly state: Json;
  readonly steps: number;
  readonly chance: Rng;
  /** All that was held. */
  readonly rest: JsonObject;
}

/** @throws TurnwiseError `snapshot-invalid` */
export function readHeld(name: string, held: Json): Held {
  const rest: JsonObject = isObject(held) ? held : {};
  const { state, steps, chance } = rest;
  if (state === undefined || !isCount(steps) || !isRngState(chance)) throw noSnapshot(name, held);
  return { state, steps, chance: new Rng(chance), rest };
}

export function noSnapshot(name: string, seen: Json): TurnwiseError {
  return new TurnwiseError('snapshot-invalid', {
    what: `"${name}" cannot go on from this`,
    seen: (JSON.stringify(seen) ?? 'nothing').slice(0, 200),
    allowed: 'what toJson() of a snapshot of its sessions gave',
    fields: { environment: name },
  });
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isCount = (value: Json | undefined): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;

const isRngState = (value: Json | undefined): value is Json & RngState =>
  Array.isArray(value) && value.length === 4 && value.every((word) => Number.isInteger(word));
