/** The fields of a zod object as a flat list of dotted keys: what help, flags and `--set` are generated from. */

import { z } from 'zod';
import type { Json } from '../core/json.ts';

export interface Field {
  /** `rollout.topP` */
  readonly key: string;
  readonly kind: 'number' | 'integer' | 'boolean' | 'string' | 'list' | 'json';
  /** For people: `number`, `integer`, `a|b|c`, `text`. */
  readonly type: string;
  /** The values or range that are accepted, in words. */
  readonly allowed: string;
  readonly default?: Json;
  readonly description: string;
  readonly choices?: readonly string[];
}

/** The part of JSON Schema that zod writes for configuration. */
interface Node {
  readonly type?: string;
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly anyOf?: readonly Node[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: boolean | Node;
  readonly items?: Node;
  readonly default?: Json;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
}

/** All leaves of an object schema, in the order they were written. */
export function schemaFields(schema: z.ZodType): Field[] {
  return leaves(toNode(schema), '');
}

/** Keys under which any further key is accepted (`credit`, for the options of a method). */
export function openKeys(schema: z.ZodType): string[] {
  const found: string[] = [];
  const walk = (node: Node, key: string): void => {
    if (node.properties === undefined) return;
    if (node.additionalProperties !== undefined && node.additionalProperties !== false) found.push(key);
    for (const [name, child] of Object.entries(node.properties)) walk(child, key ? `${key}.${name}` : name);
  };
  walk(toNode(schema), '');
  return found;
}

function toNode(schema: z.ZodType): Node {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Node;
}

function leaves(node: Node, key: string): Field[] {
  if (node.properties !== undefined) {
    return Object.entries(node.properties).flatMap(([name, child]) =>
      leaves(child, key ? `${key}.${name}` : name),
    );
  }
  return [toField(node, key)];
}

function toField(node: Node, key: string): Field {
  const choices = choicesOf(node);
  const kind = choices ? 'string' : kindOf(node);
  const type = choices ? choices.join('|') : typeNames[kind];
  return {
    key,
    kind,
    type,
    allowed: choices ? choices.join(', ') : rangeOf(node, kind),
    ...(node.default !== undefined && { default: node.default }),
    description: node.description ?? '',
    ...(choices && { choices }),
  };
}

const typeNames = {
  number: 'number',
  integer: 'integer',
  boolean: 'true|false',
  string: 'text',
  list: 'list',
  json: 'JSON',
} as const;

function choicesOf(node: Node): string[] | undefined {
  const values = node.enum ?? node.anyOf?.flatMap((option) => option.const ?? option.enum ?? []);
  if (values === undefined || values.length === 0 || !values.every((value) => typeof value === 'string'))
    return undefined;
  return values as string[];
}

function kindOf(node: Node): Field['kind'] {
  switch (node.type) {
    case 'number':
    case 'integer':
    case 'boolean':
    case 'string':
      return node.type;
    case 'array':
      return node.items?.type === 'string' ? 'list' : 'json';
    default:
      return 'json';
  }
}

function rangeOf(node: Node, kind: Field['kind']): string {
  if (kind !== 'number' && kind !== 'integer') {
    return { boolean: 'true or false', string: 'text', list: 'words separated by commas', json: 'JSON' }[
      kind
    ];
  }
  const noun = kind === 'integer' ? 'an integer' : 'a number';
  const bounds: string[] = [];
  // zod writes the range of safe integers into every integer; it tells a person nothing.
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = node;
  if (exclusiveMinimum !== undefined) bounds.push(`above ${exclusiveMinimum}`);
  else if (minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER) bounds.push(`at least ${minimum}`);
  if (exclusiveMaximum !== undefined) bounds.push(`below ${exclusiveMaximum}`);
  else if (maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER) bounds.push(`at most ${maximum}`);
  return [noun, bounds.join(' and ')].filter(Boolean).join(' ');
}
