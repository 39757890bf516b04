/** `--set key=value`: dotted keys into a configuration, checked by its schema, with errors that help. */

import type { z } from 'zod';
import { nearest, TurnwiseError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json/json.ts';
import { type Field, openKeys, schemaFields } from './schema-fields.ts';

/**
 * `base` with the assignments of a command line laid over it.
 *
 * @param assignments `key=value`, in order; a later one wins
 * @param label what the keys belong to, for messages: "frozen-lake", "this run"
 * @returns plain settings, still to be parsed by `schema`, which checks ranges
 * @throws TurnwiseError `setting-syntax`, `config-unknown-key`, `config-invalid`
 */
export function applySettings(
  schema: z.ZodType,
  base: JsonObject,
  assignments: readonly string[],
  label: string,
): JsonObject {
  const fields = new Map(schemaFields(schema).map((field) => [field.key, field]));
  const open = openKeys(schema);
  let result = base;
  for (const assignment of assignments) {
    const separator = assignment.indexOf('=');
    if (separator < 1) {
      throw new TurnwiseError('setting-syntax', {
        what: 'A setting needs a key and a value',
        seen: `--set ${assignment}`,
        allowed: '--set key=value, such as --set steps=50',
      });
    }
    const key = assignment.slice(0, separator);
    const text = assignment.slice(separator + 1);
    requireOwnKeys(key.split('.'), assignment);
    const field = fields.get(key);
    if (field === undefined && !open.some((prefix) => prefix === '' || `${key}.`.startsWith(`${prefix}.`))) {
      throw unknownSetting(key, [...fields.keys()], label);
    }
    const value = field ? coerce(field, text) : guess(text);
    requireOwnKeys(keysWithin(value), assignment);
    result = setPath(result, key.split('.'), value);
  }
  return result;
}

/** Names that mean something to every object of JavaScript. */
const RESERVED: readonly string[] = ['__proto__', 'constructor', 'prototype'];

function requireOwnKeys(keys: readonly string[], assignment: string): void {
  const reserved = keys.find((key) => RESERVED.includes(key));
  if (reserved === undefined) return;
  throw new TurnwiseError('setting-syntax', {
    what: `"${reserved}" cannot be a part of a key`,
    seen: `--set ${assignment}`,
    allowed: `any name but ${RESERVED.join(', ')}`,
    fields: { key: reserved },
  });
}

function keysWithin(value: Json): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap(keysWithin);
  return Array.isArray(value) ? inner : [...Object.keys(value), ...inner];
}

function unknownSetting(key: string, known: readonly string[], label: string): TurnwiseError {
  const near = nearestKeys(key, known).map((candidate) => `"${candidate}"`);
  return new TurnwiseError('config-unknown-key', {
    what: `There is no setting "${key}" for ${label}`,
    next: near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'List the settings with --help',
    fields: { key },
  });
}

/**
 * The known keys that were most likely meant. The last part tells the most: it may be right under another parent, be the
 * initials (`lr`) or a word (`rate`, `temp`) of the name, or be a slip. Keys of the same parent win; several keys of one
 * name under different parents are all meant.
 */
function nearestKeys(key: string, known: readonly string[]): readonly string[] {
  const word = lastPart(key);
  const parent = parentOf(key);
  const wanted = word.toLowerCase().replaceAll(/[_-]/g, '');
  const siblings = known.filter((candidate) =>
    parent === '' ? parentOf(candidate) === '' : parentOf(candidate).startsWith(parent),
  );
  const named = (means: (name: string) => boolean): readonly string[] => {
    const near = siblings.find((candidate) => means(lastPart(candidate)));
    if (near !== undefined) return [near];
    const first = known.find((candidate) => means(lastPart(candidate)));
    return first === undefined ? [] : known.filter((candidate) => lastPart(candidate) === lastPart(first));
  };
  const slip = (keys: readonly string[]): readonly string[] => {
    const near = nearest(word, keys.map(lastPart));
    return keys.filter((candidate) => lastPart(candidate) === near).slice(0, 1);
  };
  // Under a known parent the whole key is near to every sibling.
  const whole = parent !== '' && siblings.length > 0 ? undefined : nearest(key, known);
  const guesses = [
    () => named((name) => name.toLowerCase() === wanted),
    () => named((name) => wordsOf(name).length > 1 && initials(name) === wanted),
    () => named((name) => wanted.length > 1 && wordsOf(name).some((part) => part.startsWith(wanted))),
    () => slip(siblings),
    () => (whole === undefined ? [] : [whole]),
    () => slip(known),
  ];
  for (const guess of guesses) {
    const keys = guess();
    if (keys.length > 0) return keys;
  }
  return [];
}

const lastPart = (dotted: string): string => dotted.slice(dotted.lastIndexOf('.') + 1);
const parentOf = (dotted: string): string => dotted.slice(0, Math.max(0, dotted.lastIndexOf('.')));
/** `learning`, `rate` */
const wordsOf = (name: string): string[] => name.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
const initials = (name: string): string =>
  wordsOf(name)
    .map((word) => word[0])
    .join('');

function badValue(key: string, seen: string, allowed: string): TurnwiseError {
  return new TurnwiseError('config-invalid', {
    what: `The value of "${key}" is not allowed`,
    seen: seen === '' ? 'nothing' : seen,
    allowed,
    fields: { key },
  });
}

/** The text of a flag or setting as the kind of value its field holds; ranges are left to the schema. */
export function coerce(field: Field, text: string): Json {
  const { key, kind, allowed, choices } = field;
  switch (kind) {
    case 'number':
    case 'integer': {
      const value = Number(text);
      if (text.trim() === '' || !Number.isFinite(value) || (kind === 'integer' && !Number.isInteger(value))) {
        throw badValue(key, text, allowed);
      }
      return value;
    }
    case 'boolean':
      if (text !== 'true' && text !== 'false') throw badValue(key, text, allowed);
      return text === 'true';
    case 'list':
      return listOf(field, text);
    case 'string': {
      if (choices === undefined || choices.includes(text)) return text;
      const near = nearest(text, choices);
      throw badValue(key, near ? `${text} (did you mean ${near}?)` : text, allowed);
    }
    case 'json':
      return guess(text);
  }
}

/** Words between commas; or JSON, whose words may hold commas themselves. */
function listOf({ key }: Field, text: string): Json {
  if (!text.trimStart().startsWith('[')) return text.split(',').filter((word) => word !== '');
  const list = guess(text);
  if (!Array.isArray(list)) throw badValue(key, text, 'words between commas, or a JSON array');
  return list;
}

/** Where no schema says what a value is: JSON if it is JSON, text otherwise. */
function guess(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function setPath(object: JsonObject, [name, ...rest]: readonly string[], value: Json): JsonObject {
  if (name === undefined) return object;
  if (rest.length === 0) return { ...object, [name]: value };
  const inner = object[name];
  const isObject = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
  return { ...object, [name]: setPath(isObject ? (inner as JsonObject) : {}, rest, value) };
}
