/** What the adapters refuse from environment and game authors, at the place where it is born. */

import { TurnwiseError } from '../core/errors.ts';
import { findNonJson } from '../core/json.ts';
import type { Message } from '../core/messages.ts';

/** Longest observation, in characters of one step's messages together. */
export const OBSERVATION_LIMIT = 1_000_000;

/** The state itself, frozen all the way down: a `step` that changes its input throws instead of corrupting forks. */
export function checkState<State>(name: string, state: State): State {
  const path = findNonJson(state);
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

export function checkReward(name: string, reward: number, role?: string): number {
  if (Number.isFinite(reward)) return reward;
  const forRole = role === undefined ? '' : ` for role "${role}"`;
  throw new TurnwiseError('reward-not-finite', {
    what: `"${name}" returned a reward${forRole} that is not a finite number`,
    seen: String(reward),
    allowed: 'any finite number',
    next: 'Look for a division by zero or a missing field in its step function.',
    fields: { environment: name, ...(role === undefined ? {} : { role }) },
  });
}

export function checkMessages(name: string, messages: readonly Message[]): readonly Message[] {
  let length = 0;
  for (const message of messages) {
    if (typeof message.content !== 'string') {
      throw new TurnwiseError('observation-not-text', {
        what: `"${name}" returned an observation that is not a string`,
        seen: message.content === null ? 'null' : typeof message.content,
        allowed: 'a string, which may be empty',
        fields: { environment: name },
      });
    }
    length += message.content.length;
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

export function episodeOver(name: string): TurnwiseError {
  return new TurnwiseError('episode-over', {
    what: `"${name}" was stepped after its episode had ended`,
    next: 'Open a new session, or fork one that has not ended.',
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

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const item of Object.values(value)) freeze(item);
}
