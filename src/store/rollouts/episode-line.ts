/** An episode as one line of a shard, and back: typed arrays, infinities and all. */

import type { Call, Episode, EpisodeKey, Group } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { exactJson, exactNumber, shortFloat } from '../../core/json/exact-json.ts';

/** What an episode was played for. `recorded`: somebody else played it, and the run learns from it. */
export type EpisodeLabel = 'training' | 'sampled' | 'greedy' | 'recorded';

export interface StoredEpisode {
  readonly episode: Episode;
  /** Of evaluations. */
  readonly label?: 'sampled' | 'greedy';
  /** The group whose line it is, where its key says another one: an inserted member. */
  readonly joined?: { readonly step: number; readonly group: number };
}

/** The lines of a group, without line ends. */
export function groupLines(group: Group, label?: 'sampled' | 'greedy'): string[] {
  const { step, group: number, members } = group;
  return members.map((episode) => {
    const elsewhere = episode.key.step !== step || episode.key.group !== number;
    const record = {
      ...episode,
      ...(label && { label }),
      ...(elsewhere && { joined: { step, group: number } }),
    };
    // Read once: fields of calls and transitions are made as they are read.
    const plain = {
      ...record,
      calls: episode.calls.map(plainCall),
      transitions: episode.transitions.map((transition) => ({ ...transition })),
    };
    // Native JSON is several times faster, but knows neither typed arrays nor numbers that are not finite.
    return isUsual(plain) ? JSON.stringify(plain) : exactJson(record);
  });
}

/** A call whose typed arrays are plain ones, with as few digits as give them back. */
function plainCall(call: Call): object {
  // Read once: stored calls make their fields as they are read.
  const plain: { -readonly [Name in keyof Call]: unknown } = { ...call };
  const { context, ids, logprobs, entropy, choices, top } = plain as Call;
  plain.context = listOf(context);
  plain.ids = listOf(ids);
  plain.logprobs = listOf(logprobs, shortFloat);
  if (entropy !== undefined) plain.entropy = shortFloat(entropy);
  if (top) plain.top = { ids: listOf(top.ids), logprobs: listOf(top.logprobs, shortFloat) };
  if (choices) plain.choices = choices.map((choice) => listOf(choice));
  return plain;
}

/** Ten times as fast as `Array.from`, which asks typed arrays for an iterator. */
function listOf(numbers: ArrayLike<number>, as = (number: number): number => number): number[] {
  const list = new Array<number>(numbers.length);
  for (let index = 0; index < numbers.length; index++) list[index] = as(numbers[index]!);
  return list;
}

/** Whether JSON can write all numbers in a value: it has neither infinities nor a zero with a sign. */
function isUsual(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    const items = value as ArrayLike<unknown>;
    for (let index = 0; index < items.length; index++) if (!isUsual(items[index])) return false;
    return true;
  }
  for (const name in value) if (!isUsual(value[name as keyof typeof value])) return false;
  return true;
}

/** The group whose lines these are; undefined for no lines. */
export function groupOf(stored: readonly StoredEpisode[]): Group | undefined {
  const [first] = stored;
  if (!first) return undefined;
  const { step, group } = first.joined ?? first.episode.key;
  return { step, group, members: stored.map(({ episode }) => episode) };
}

/**
 * @param place named in errors, such as `3.jsonl.gz, group 4, line 2`
 * @throws TurnwiseError `rollouts-invalid`
 */
export function parseEpisode(line: string, place: string): StoredEpisode {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw invalidRollouts(place, (cause as Error).message, cause);
  }
  const { label, joined, ...rest } = new Reader(place).record(value, 'episode');
  const stored = { label, joined } as Pick<StoredEpisode, 'label' | 'joined'>;
  return {
    episode: episodeOf(rest, new Reader(place)),
    ...(stored.label && { label: stored.label }),
    ...(stored.joined && { joined: stored.joined }),
  };
}

type Fields = Record<string, unknown>;

function episodeOf(fields: Fields, read: Reader): Episode {
  const key = read.record(fields.key, 'key') as EpisodeKey;
  for (const name of ['step', 'group', 'member'] as const) read.number(key[name], `key.${name}`);
  return {
    ...fields,
    key,
    calls: read.list(fields.calls, 'calls', (call, path) => callOf(read.record(call, path), path, read)),
    transitions: read.list(fields.transitions, 'transitions', (transition, path) =>
      transitionOf(read.record(transition, path), path, read),
    ),
    outcome: read.numbers(fields.outcome, 'outcome'),
    success: read.record(fields.success, 'success'),
    ...read.optional(fields, 'scores', (value, path) =>
      read.list(value, path, (score, at) => {
        const { rewards, ...rest } = read.record(score, at);
        return { ...rest, rewards: read.numbers(rewards, `${at}.rewards`) };
      }),
    ),
    ...read.optional(fields, 'credit', (value, path) =>
      read.map(value, path, (credit, at) => creditOf(read.record(credit, at), at, read)),
    ),
  } as unknown as Episode;
}

function callOf(fields: Fields, path: string, read: Reader): Fields {
  return {
    ...fields,
    ...read.each(fields, path, ['at', 'waitMs', 'policyMs'], (value, at) => read.number(value, at)),
    sampling: read.numbers(fields.sampling, `${path}.sampling`),
    context: read.integers(fields.context, `${path}.context`),
    ids: read.integers(fields.ids, `${path}.ids`),
    logprobs: read.floats(fields.logprobs, `${path}.logprobs`),
    ...read.each(fields, path, ['entropy'], (value, at) => Math.fround(read.number(value, at))),
    ...read.optional(fields, 'top', (value) => {
      const top = read.record(value, `${path}.top`);
      return {
        ids: read.integers(top.ids, `${path}.top.ids`),
        logprobs: read.floats(top.logprobs, `${path}.top.logprobs`),
      };
    }),
    ...read.optional(fields, 'choices', (value) =>
      read.list(value, `${path}.choices`, (ids, at) => read.integers(ids, at)),
    ),
  };
}

const numberFacts = [
  'answerProbability',
  'informationGain',
  'progress',
  'actionCount',
  'effectiveActions',
  'counterfactual',
  'response',
  'entityShare',
  'neededCalls',
];

function transitionOf(fields: Fields, path: string, read: Reader): Fields {
  return {
    ...fields,
    ...read.each(fields, path, ['at', 'environmentMs'], (value, at) => read.number(value, at)),
    rewards: read.numbers(fields.rewards, `${path}.rewards`),
    ...read.optional(fields, 'metrics', (value) => read.numbers(value, `${path}.metrics`)),
    ...read.optional(fields, 'facts', (value) =>
      factsOf(read.record(value, `${path}.facts`), `${path}.facts`, read),
    ),
  };
}

function factsOf(facts: Fields, path: string, read: Reader): Fields {
  return {
    ...facts,
    ...read.each(facts, path, numberFacts, (fact, at) => read.number(fact, at)),
    ...read.each(facts, path, ['dense', 'features', 'teacherGaps'], (fact, at) => read.series(fact, at)),
  };
}

function creditOf(fields: Fields, path: string, read: Reader): Fields {
  const series = ['weights_K', 'advantages_K', 'advantages_T', 'bonus_K', 'values', 'entropies'];
  return {
    ...fields,
    ...read.each(fields, path, ['weight'], (value, at) => read.number(value, at)),
    ...read.each(fields, path, series, (value, at) => read.series(value, at)),
    ...read.each(fields, path, ['facts_K'], (value, at) =>
      read.list(value, at, (facts, turn) => factsOf(read.record(facts, turn), turn, read)),
    ),
  };
}

/** Reads the kinds of values that JSON does not tell apart; every error names the field. */
class Reader {
  readonly #place: string;

  constructor(place: string) {
    this.#place = place;
  }

  number(value: unknown, path: string): number {
    return exactNumber(value) ?? this.#fail(path, 'a number', value);
  }

  record(value: unknown, path: string): Fields {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
    return this.#fail(path, 'an object', value);
  }

  list<T>(value: unknown, path: string, item: (value: unknown, path: string) => T): T[] {
    if (!Array.isArray(value)) return this.#fail(path, 'a list', value);
    return value.map((entry: unknown, index) => item(entry, `${path}[${index}]`));
  }

  series(value: unknown, path: string): number[] {
    return this.list(value, path, (entry, at) => this.number(entry, at));
  }

  floats(value: unknown, path: string): Float32Array {
    return Float32Array.from(this.series(value, path));
  }

  integers(value: unknown, path: string): Int32Array {
    return Int32Array.from(
      this.list(value, path, (entry, at) =>
        typeof entry === 'number' && (entry | 0) === entry ? entry : this.#fail(at, 'a token id', entry),
      ),
    );
  }

  /** An object of anything; `fromEntries` keeps names such as `__proto__` what they are. */
  map<T>(value: unknown, path: string, item: (value: unknown, path: string) => T): Record<string, T> {
    const entries = Object.entries(this.record(value, path));
    return Object.fromEntries(entries.map(([name, entry]) => [name, item(entry, `${path}.${name}`)]));
  }

  numbers(value: unknown, path: string): Record<string, number> {
    return this.map(value, path, (entry, at) => this.number(entry, at));
  }

  /** The field as an object to be spread: empty where it is absent. */
  optional(fields: Fields, name: string, item: (value: unknown, path: string) => unknown): Fields {
    return fields[name] === undefined ? {} : { [name]: item(fields[name], name) };
  }

  each(fields: Fields, path: string, names: readonly string[], item: Item): Fields {
    const present = names.filter((name) => fields[name] !== undefined);
    return Object.fromEntries(present.map((name) => [name, item(fields[name], `${path}.${name}`)]));
  }

  #fail(path: string, allowed: string, value: unknown): never {
    const seen = JSON.stringify(value)?.slice(0, 60) ?? 'nothing';
    throw invalidRollouts(this.#place, `${path}: ${seen}`, undefined, allowed);
  }
}

type Item = (value: unknown, path: string) => unknown;

export function invalidRollouts(
  place: string,
  seen: string,
  cause?: unknown,
  allowed?: string,
): TurnwiseError {
  return new TurnwiseError('rollouts-invalid', {
    what: `Stored episodes cannot be read: ${place}`,
    seen,
    ...(allowed !== undefined && { allowed }),
    next: 'Build the index anew with "turnwise runs reindex NAME", take another run, or record the episodes again',
    fields: { place },
    ...(cause !== undefined && { cause }),
  });
}
