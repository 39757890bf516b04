/**
 * Completions that are held to a form: JSON texts of a schema, by themselves or with fixed words around them, as calls of tools
 * have them. Unlike choices, what may come next is not kept with a call: it would be most of a vocabulary, token after token.
 */

import type { JsonObject } from './json/json.ts';

/** A JSON text between two fixed ones. */
export interface Form {
  readonly begin: string;
  /** JSON Schema of the text between. */
  readonly schema: JsonObject;
  readonly end: string;
  /** White space of the JSON: `{"a": 1, "b": 2}` (default), or `{"a":1,"b":2}`. */
  readonly notation?: 'spaced' | 'compact';
}

/**
 * What a completion may say.
 *
 * @example
 * const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
 * const answer: Constraint = { forms: [{ begin: '', schema: city, end: '' }] };
 */
export interface Constraint {
  /** At least one. */
  readonly forms: readonly Form[];
  /** Absent: the completion is one of the forms. Else it is text, and whatever begins with this, as all forms do, is one of them. */
  readonly trigger?: string;
  /** With a trigger: the completion ends after the first form. */
  readonly once?: boolean;
}

/** What the tokens of a vocabulary write, by id. */
export interface TokenTexts {
  /** As the file of the tokenizer has them; empty where a token writes nothing, as those do that end a turn. */
  readonly texts: readonly string[];
  /** How bytes are written in them. */
  readonly bytes: 'byte_level' | 'byte_fallback';
}
