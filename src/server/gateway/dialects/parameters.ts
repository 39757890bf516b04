/** Checks of bodies that all dialects share. Nothing is ignored in silence: a parameter is honoured, noted or refused by name. */

import { z } from 'zod';
import { nearest } from '../../../core/errors.ts';
import type { JsonObject } from '../../../core/json/json.ts';
import type { ToolDeclaration } from '../../../core/messages.ts';
import { type ApiError, badRequest } from '../api-error.ts';
import type { ToolChoice } from '../call-request.ts';
import type { Reading } from './dialect.ts';

export interface ParameterRules<Schema extends z.ZodObject> {
  /** What is honoured. */
  readonly schema: Schema;
  /** Identifies, stores or bills elsewhere. */
  readonly harmless: readonly string[];
  /** Asks for something that a small model cannot do more or less of. */
  readonly noted: readonly string[];
  /** Would change what is sampled, which is not done here; with the value that changes nothing. */
  readonly neutral: Readonly<Record<string, (value: unknown) => boolean>>;
  /** Is not there, and never will be; with what to do in its place. Null and false ask for nothing. */
  readonly absent: Readonly<Record<string, string>>;
}

/** What `neutral` is in every dialect. */
export const penalties: Readonly<Record<string, (value: unknown) => boolean>> = {
  frequency_penalty: (value) => value === 0,
  presence_penalty: (value) => value === 0,
  repetition_penalty: (value) => value === 1,
  logit_bias: (value) => typeof value === 'object' && value !== null && Object.keys(value).length === 0,
  min_p: (value) => value === 0,
};

/** What a run that samples as it is configured sets aside. */
const SAMPLING = ['temperature', 'top_p', 'top_k', 'seed'];

/** @throws ApiError 400 that names the parameter */
export function readParameters<Schema extends z.ZodObject>(
  body: unknown,
  { schema, harmless, noted, neutral, absent }: ParameterRules<Schema>,
  { lenient, ignore }: Reading,
): z.output<Schema> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw badRequest('invalid_body', 'The body must be a JSON object.');
  }
  const honoured = Object.keys(schema.shape);
  const known = [...honoured, ...harmless, ...noted, ...Object.keys(neutral), ...Object.keys(absent)];
  const given: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(body)) {
    const asks = value !== null && value !== undefined;
    if (honoured.includes(key)) {
      given[key] = value;
      if (lenient && asks && SAMPLING.includes(key)) ignore(key);
    } else if (harmless.includes(key) || !asks) {
      if (!known.includes(key) && !lenient) throw unknownParameter(key, known);
    } else if (noted.includes(key)) {
      ignore(key);
    } else if (Object.hasOwn(absent, key)) {
      if (value !== false) throw unsupported(key, absent[key]!);
    } else if (Object.hasOwn(neutral, key)) {
      if (neutral[key]!(value)) continue;
      if (!lenient)
        throw unsupported(key, 'it would change the sampling, which this server does not support');
      ignore(key);
    } else {
      if (!lenient) throw unknownParameter(key, known);
      ignore(key);
    }
  }
  const checked = schema.safeParse(given);
  if (checked.success) return checked.data;
  throw invalidValue(checked.error.issues[0]!);
}

function unknownParameter(key: string, known: readonly string[]): ApiError {
  const near = nearest(key, known);
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
  return badRequest('unknown_parameter', `There is no parameter "${key}".${hint}`, key);
}

export function unsupported(key: string, why: string): ApiError {
  return badRequest('unsupported_parameter', `"${key}" cannot be had here: ${why}.`, key);
}

export function invalidValue(issue: z.core.$ZodIssue, within: readonly PropertyKey[] = []): ApiError {
  const path = [...within, ...issue.path].map(String).join('.');
  if (issue.code !== 'unrecognized_keys')
    return badRequest('invalid_value', `${path}: ${issue.message}.`, path);
  const key = `${path === '' ? '' : `${path}.`}${issue.keys[0]!}`;
  return badRequest('unknown_parameter', `There is no parameter "${key}".`, key);
}

export const functionName = z.string().regex(/^[a-zA-Z0-9_.-]{1,128}$/);
export const jsonSchema = z.record(z.string(), z.unknown());
/** What is the same in all dialects. */
export const sampling = {
  model: z.string().min(1),
  temperature: z.number().min(0).max(100).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  top_k: z.int().min(-1).nullish(),
  stream: z.boolean().nullish(),
};
export const topLogprobs = z.int().min(0).max(20).nullish();

/** A tool as the inner form has it. */
export function declared(
  name: string,
  description: string | null | undefined,
  parameters: Readonly<Record<string, unknown>> | null | undefined,
): ToolDeclaration {
  return {
    name,
    description: description ?? '',
    parameters: (parameters ?? { type: 'object', properties: {} }) as JsonObject,
  };
}

/** The names of the tools that are to be called as their schemas say. */
export const strictIn = (
  tools: readonly { readonly name?: string | undefined; readonly strict?: boolean | null | undefined }[],
): string[] => tools.flatMap(({ name, strict }) => (strict && name !== undefined ? [name] : []));

/** @throws ApiError 400 where a tool is to be called that is not there */
export function checkChoice(choice: ToolChoice, tools: readonly ToolDeclaration[]): ToolChoice {
  if (choice === 'auto' || choice === 'none') return choice;
  const names = tools.map(({ name }) => name);
  if (names.length === 0) {
    throw badRequest('invalid_tool_choice', 'A tool is to be called, but "tools" is empty.', 'tool_choice');
  }
  if (choice === 'required' || names.includes(choice.name)) return choice;
  throw badRequest(
    'invalid_tool_choice',
    `There is no tool "${choice.name}" among: ${names.join(', ')}.`,
    'tool_choice',
  );
}
