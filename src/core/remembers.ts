/**
 * Definitions that remember from step to step: sources of tasks, turn controls, curations. Each is functions of its options
 * and of a memory, plain JSON that lies in every checkpoint and changes once a step.
 */

import { z } from 'zod';
import { badDefinition, callDefinition, type DefinitionKind, subjectOf } from './definition.ts';
import type { Group } from './episode.ts';
import { findNonJson, type Json } from './json/json.ts';
import { parseStrict } from './json/parse-strict.ts';
import type { Rng } from './rng.ts';

/** What every function of a definition is told: the step, counted from 1, its options, its memory, and chance of its own. */
export interface At<O, M> {
  readonly step: number;
  readonly options: O;
  readonly memory: M;
  /** The same numbers for the same step and purpose, whatever happened before. */
  readonly rng: Rng;
}

export interface Remembers<O extends object, M extends Json> {
  readonly name: string;
  /** One line for people. */
  readonly summary?: string;
  /** Strict, with a default and a description for every field. Default: no options. */
  readonly options?: z.ZodType<O>;
  /** The memory before the first step, plain JSON. Default: null. */
  start?(options: O): M;
  /**
   * The memory of the next step, from the groups of this one: after the update, with their credit, without episodes that
   * failed. Where it holds keys of episodes, the run stores these and can read them again. Default: it does not change.
   */
  remember?(groups: readonly Group[], at: At<O, M>): M;
}

/** The moment at which a definition is asked: all of `At` but its options. */
export type Now = Omit<At<unknown, Json>, 'options'>;

/** A definition with its options. */
export interface Remembering {
  /** Whose code it is, for messages. */
  readonly subject: string;
  /** With defaults filled in. */
  readonly options: object;
  /** Whether its memory changes from step to step. */
  readonly remembers: boolean;
  start(): Json;
  /** @throws TurnwiseError `definition-invalid`, `definition-failed`, as `start` */
  remember(groups: readonly Group[], now: Now): Json;
}

/** What the `define…` function of such a kind returns, besides what only this kind has. */
export interface Defined<Kind extends DefinitionKind, Open> {
  readonly kind: Kind;
  readonly name: string;
  readonly summary: string;
  readonly options: z.ZodType<object>;
  /** One with these options. Refuses unknown or invalid ones. */
  create(options?: unknown, subject?: string): Open;
}

/** How a definition is asked: `at` completes a moment, `subject` says whose code it is. */
export interface Asked<O, M> {
  readonly subject: string;
  readonly options: O;
  at(now: Now): At<O, M>;
}

/** @param open what this kind is asked besides, each answer checked */
export function defineRemembering<
  Kind extends DefinitionKind,
  O extends object,
  M extends Json,
  Questions extends object,
>(
  kind: Kind,
  definition: Remembers<O, M>,
  open: (asked: Asked<O, M>) => Questions,
): Defined<Kind, Remembering & Questions> {
  const { name, summary = '' } = definition;
  const schema = definition.options ?? (z.strictObject({}) as unknown as z.ZodType<O>);
  return {
    kind,
    name,
    summary,
    options: schema,
    create(given = {}, subject = subjectOf(kind, name)) {
      const options = parseStrict(schema, given, subject) as O;
      // Only the definition itself made its memory.
      const at = (now: Now): At<O, M> => ({ ...now, options, memory: now.memory as M });
      return { ...remembering(definition, options, subject, at), ...open({ subject, options, at }) };
    },
  };
}

function remembering<O extends object, M extends Json>(
  definition: Remembers<O, M>,
  options: O,
  subject: string,
  at: (now: Now) => At<O, M>,
): Remembering {
  const checked = (memory: Json): Json => {
    const strange = findNonJson(memory);
    if (strange === undefined) return memory;
    throw badDefinition(
      subject,
      'remembers something that is not JSON',
      strange,
      'plain JSON: it is in the checkpoint',
    );
  };
  return {
    subject,
    options,
    remembers: definition.remember !== undefined,
    start: () => checked(callDefinition(subject, () => definition.start?.(options) ?? null)),
    remember: (groups, now) =>
      definition.remember
        ? checked(callDefinition(subject, () => definition.remember?.(groups, at(now)) as Json))
        : now.memory,
  };
}
