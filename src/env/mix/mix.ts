/** A world of worlds, as it is written: which, and how often each is drawn. `mix-worlds.ts` plays it. */

import { TurnwiseError } from '../../core/errors.ts';

/** A built-in name, a path or an address; or whatever a `define…` function returned. */
export type MixWorld = string | object;

export interface MixEntry {
  readonly world: MixWorld;
  /** Tasks of this world for each of another with weight 1. */
  readonly weight: number;
}

export interface Mix {
  readonly kind: 'mix';
  /** By the names of the metrics; a world that is named by its key has the name that it gives itself. */
  readonly entries: readonly (MixEntry & { readonly name?: string })[];
  readonly name?: string;
}

export interface MixOptions {
  /** Default: the names of the worlds with `+` between them. */
  readonly name?: string;
}

/**
 * A world of worlds: each task is drawn from one of them, with these weights. Success, rewards and metrics are told of each
 * (`env/<name>/success`), episodes keep the action format and the turn limit of their own world, and a small model learns the
 * words of all. On the command line: `mix:frozen-lake=3,wordle=1`.
 *
 * The worlds have the same roles, and none is an agent.
 *
 * @param worlds weights by built-in name, path or address; or `{ world, weight }` by a name of yours
 * @throws TurnwiseError `mix-invalid`
 *
 * @example
 * await train({ world: mix({ 'frozen-lake': 3, wordle: 1 }), recipe: 'grpo' });
 * await train({ world: mix({ wordle: 1, desk: { world: noteDesk, weight: 2 } }), recipe: 'grpo' });
 */
export function mix(worlds: Readonly<Record<string, number | MixEntry>>, options: MixOptions = {}): Mix {
  const entries = Object.entries(worlds).map(([key, value]) =>
    typeof value === 'number' ? { world: key, weight: value } : { ...value, name: key },
  );
  if (entries.length === 0) throw invalidMix('A mix has no worlds', 'an empty object', 'at least one world');
  for (const { world, weight } of entries) {
    if (typeof weight === 'number' && weight > 0 && Number.isFinite(weight)) continue;
    throw invalidMix(
      `A world of a mix has no usable weight: ${typeof world === 'string' ? world : 'an object'}`,
      String(weight),
      'a number above 0',
    );
  }
  return { kind: 'mix', entries, ...(options.name !== undefined && { name: options.name }) };
}

export function isMix(value: unknown): value is Mix {
  return typeof value === 'object' && value !== null && (value as Partial<Mix>).kind === 'mix';
}

export function invalidMix(what: string, seen: string, allowed: string): TurnwiseError {
  return new TurnwiseError('mix-invalid', {
    what,
    seen,
    allowed,
    next: "Write it as in mix({ 'frozen-lake': 3, wordle: 1 }), or mix:frozen-lake=3,wordle=1 in a command",
  });
}
