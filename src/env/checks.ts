/** What the adapters refuse from environment and game authors, at the place where it is born. */

import { TurnwiseError } from '../core/errors.ts';
import { findNonJson, type Json, type JsonObject } from '../core/json/json.ts';
import type { Message } from '../core/messages.ts';
import { Rng, type RngState } from '../core/rng.ts';
import { valueText } from '../core/safe-text.ts';

/** Longest observation, in characters of one step's messages together. */
export const OBSERVATION_LIMIT = 1_000_000;

/** Parts of states that were checked and frozen: the next state often has most of them, too. */
const sound = new WeakSet<object>();

/** The state itself, frozen all the way down: a `step` that changes its input throws instead of corrupting snapshots. */
export function checkState<State>(name: string, state: State): State {
  const path = findNonJson(state, sound);
  if (path !== undefined) {
    throw new TurnwiseError('state-not-json', {
      what: `The state of "${name}" is not plain JSON`,
      seen: `${describe(state, path)} at ${path}`,
      allowed: 'null, booleans, finite numbers, strings, arrays and plain objects',
      next: 'Keep only plain data in the state, or implement Session for a live environment.',
      fields: { environment: name, path },
    });
  }
  freeze(state);
  return state;
}

/** Of one step. Larger ones say nothing that a smaller one could not, and their sums overflow. */
export const LARGEST_REWARD = 1e12;

export function checkReward(name: string, reward: unknown, role?: string): number {
  if (typeof reward === 'number' && Math.abs(reward) <= LARGEST_REWARD) return reward;
  const returned = `"${name}" returned a reward${role === undefined ? '' : ` for role "${role}"`}`;
  const fields = { environment: name, ...(role === undefined ? {} : { role }) };
  if (Number.isFinite(reward)) {
    throw new TurnwiseError('reward-too-large', {
      what: `${returned} whose sums would overflow`,
      seen: valueText(reward),
      allowed: `numbers from -${LARGEST_REWARD} to ${LARGEST_REWARD}`,
      next: 'Scale the rewards down.',
      fields,
    });
  }
  throw new TurnwiseError('reward-not-finite', {
    what: `${returned} that is not a finite number`,
    seen: valueText(reward),
    allowed: 'any finite number',
    next: 'Look for a division by zero or a missing field in its step function.',
    fields,
  });
}

/** What a reducer's step gave back is an object; its fields are checked where they are read. */
export function checkStep<Step extends object>(name: string, step: Step): Step {
  if (typeof step === 'object' && step !== null) return step;
  throw new TurnwiseError('environment-reply', {
    what: `The step function of "${name}" returned no step`,
    seen: valueText(step),
    allowed: 'an object with the next state and what came of the action',
    fields: { environment: name },
  });
}

export function checkMessages(name: string, messages: readonly Message[]): readonly Message[] {
  if (!Array.isArray(messages)) {
    throw notText(name, 'no list of messages', valueText(messages), 'an array of messages');
  }
  let length = 0;
  for (const message of messages as readonly (Message | null | undefined)[]) {
    const content: unknown = message?.content;
    if (typeof content !== 'string') {
      const seen = content === null ? 'null' : typeof content;
      throw notText(name, 'an observation that is not a string', seen, 'a string, which may be empty');
    }
    length += content.length;
  }
  if (length <= OBSERVATION_LIMIT) return messages;
  throw new TurnwiseError('observation-too-long', {
    what: `"${name}" returned an observation that no model could read`,
    seen: `${length} characters`,
    allowed: `at most ${OBSERVATION_LIMIT}`,
    next: 'Shorten or summarise it in the environment.',
    fields: { environment: name, length, limit: OBSERVATION_LIMIT },
  });
}

function notText(name: string, returned: string, seen: string, allowed: string): TurnwiseError {
  return new TurnwiseError('observation-not-text', {
    what: `"${name}" returned ${returned}`,
    seen,
    allowed,
    fields: { environment: name },
  });
}

export function episodeOver(name: string): TurnwiseError {
  return new TurnwiseError('episode-over', {
    what: `"${name}" was stepped after its episode had ended`,
    next: 'Open a new session, or one from a snapshot of before the end.',
    fields: { environment: name },
  });
}

function describe(state: unknown, path: string): string {
  let value = state;
  for (const [, key, index] of path.matchAll(/\.([^.[]+)|\[(\d+)\]/g)) {
    value = (value as Record<string, unknown> | undefined)?.[key ?? index ?? ''];
  }
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return typeof value;
  const constructorName = Object.getPrototypeOf(value)?.constructor?.name;
  return constructorName === 'Object' || constructorName === 'Array' ? 'a cycle' : `a ${constructorName}`;
}

/** The state itself is a new one after every step, so that only its parts are worth remembering. */
function freeze(state: unknown): void {
  if (typeof state !== 'object' || state === null) return;
  Object.freeze(state);
  for (const key of Object.keys(state)) {
    const part = (state as Readonly<Record<string, unknown>>)[key];
    if (typeof part !== 'object' || part === null || sound.has(part)) continue;
    sound.add(part);
    freeze(part);
  }
}

/** What free snapshots of pure environments and games hold. */
export interface Held {
  readonly state: Json;
  readonly steps: number;
  readonly chance: Rng;
  /** All that was held. */
  readonly rest: JsonObject;
}

/** Read back what a free snapshot held: it may come from a file. @throws TurnwiseError `snapshot-invalid` */
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
