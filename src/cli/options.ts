/** A command line into arguments and options, by the schema of its command. */

import { parseArgs } from 'node:util';
import type { z } from 'zod';
import { nearest, TurnwiseError } from '../core/errors.ts';
import type { Json } from '../core/json/json.ts';
import { type Field, schemaFields } from '../run/settings/schema-fields.ts';
import { coerce } from '../run/settings/settings.ts';
import type { Command } from './command.ts';

export interface ParsedLine<Options> {
  readonly arguments: Readonly<Record<string, string | undefined>>;
  readonly options: Options;
  readonly words: readonly string[];
}

/** `learningRate` is written `--learning-rate`. */
export function flagOf(key: string): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/**
 * Parse what follows the name of a command.
 *
 * @throws TurnwiseError `option-unknown`, `option-value`, `argument-missing`, `argument-extra`
 */
export function parseLine<Schema extends z.ZodObject>(
  command: Command<Schema>,
  line: readonly string[],
): ParsedLine<z.output<Schema>> {
  const fields = new Map(schemaFields(command.options).map((field) => [flagOf(field.key), field]));
  const { tokens } = parseArgs({
    args: [...line],
    options: Object.fromEntries(
      [...fields].map(([flag, { kind }]) => [
        flag.slice(2),
        { type: kind === 'boolean' ? ('boolean' as const) : ('string' as const) },
      ]),
    ),
    strict: false,
    tokens: true,
  });
  const values: Record<string, Json> = {};
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const field = fields.get(`--${token.name}`);
    if (field === undefined) throw unknownOption(command.name, token.rawName, [...fields.keys()]);
    const value = readValue(field, token.value);
    const earlier = values[field.key];
    values[field.key] =
      field.kind === 'list' && Array.isArray(earlier)
        ? [...earlier, value]
        : field.kind === 'list'
          ? [value]
          : value;
  }
  return {
    arguments: nameArguments(command, positionals),
    options: parseOptions(command, values, fields),
    words: positionals,
  };
}

function readValue(field: Field, text: string | undefined): Json {
  if (field.kind === 'boolean') {
    if (text === undefined) return true;
    throw badOption(field, text, 'no value: the flag alone turns it on');
  }
  // "--seed --json" would otherwise take the next flag for the value.
  if (text === undefined || text.startsWith('--')) throw badOption(field, 'nothing', field.allowed);
  if (field.kind === 'list') return text;
  try {
    return coerce(field, text);
  } catch {
    const near = field.choices && nearest(text, field.choices);
    throw badOption(field, near ? `${text} (did you mean ${near}?)` : text, field.allowed);
  }
}

function parseOptions<Schema extends z.ZodObject>(
  command: Command<Schema>,
  values: Record<string, Json>,
  fields: ReadonlyMap<string, Field>,
): z.output<Schema> {
  const parsed = command.options.safeParse(values);
  if (parsed.success) return parsed.data;
  const key = String(parsed.error.issues[0]!.path[0]);
  const field = [...fields.values()].find((candidate) => candidate.key === key)!;
  throw badOption(field, values[key] === undefined ? 'nothing' : String(values[key]), field.allowed);
}

function nameArguments(command: Command, positionals: readonly string[]): Record<string, string | undefined> {
  const expected = command.arguments;
  const missing = expected.slice(positionals.length).find((argument) => argument.required);
  if (missing) {
    throw new TurnwiseError('argument-missing', {
      what: `turnwise ${command.name} needs ${missing.name.toUpperCase()}: ${missing.description}`,
      ...(command.examples[0] && { next: `For example: ${command.examples[0]}` }),
      fields: { command: command.name, argument: missing.name },
    });
  }
  if (positionals.length > expected.length && !expected.at(-1)?.several) {
    const names = expected.map((argument) => argument.name.toUpperCase()).join(' ');
    throw new TurnwiseError('argument-extra', {
      what: `turnwise ${command.name} takes ${expected.length === 0 ? 'no arguments' : `only ${names}`}`,
      seen: positionals.slice(expected.length).join(' '),
      next: `See: turnwise ${command.name} --help`,
      fields: { command: command.name },
    });
  }
  return Object.fromEntries(expected.map((argument, index) => [argument.name, positionals[index]]));
}

function unknownOption(command: string, flag: string, known: readonly string[]): TurnwiseError {
  const near = nearest(flag, known);
  return new TurnwiseError('option-unknown', {
    what: `turnwise ${command} has no option ${flag}`,
    next: near ? `Did you mean ${near}?` : `See: turnwise ${command} --help`,
    fields: { command, option: flag },
  });
}

function badOption(field: Field, seen: string, allowed: string): TurnwiseError {
  return new TurnwiseError('option-value', {
    what: `The value of ${flagOf(field.key)} is not allowed`,
    seen,
    allowed,
    fields: { option: flagOf(field.key) },
  });
}
