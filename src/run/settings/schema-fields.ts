/** The fields of a zod object as a flat list of dotted keys: what help, flags and `--set` are generated from. */

import { z } from 'zod';
import type { Json } from '../../core/json/json.ts';

export interface Field {
  /** `rollout.topP` */
  readonly key: string;
  readonly path: readonly string[];
  readonly kind: 'number' | 'integer' | 'boolean' | 'string' | 'list' | 'json';
  /** Short, for help: `integer ≥ 1`, `a|b|c`, `text`. */
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
  return leaves(toNode(schema), []);
}

/** What is said about keys that no schema lists, as `[key with a star, description]`. */
export function openFields(schema: z.ZodType): [key: string, description: string][] {
  const found: [string, string][] = [];
  walkOpen(toNode(schema), '', (key, node) => {
    if (key !== '' && node.description) found.push([`${key}.*`, node.description]);
  });
  return found;
}

/** Keys under which any further key is accepted (`credit`, for the options of a method). */
export function openKeys(schema: z.ZodType): string[] {
  const found: string[] = [];
  walkOpen(toNode(schema), '', (key) => found.push(key));
  return found;
}

function walkOpen(node: Node, key: string, visit: (key: string, node: Node) => void): void {
  if (node.properties === undefined) return;
  if (node.additionalProperties !== undefined && node.additionalProperties !== false) visit(key, node);
  for (const [name, child] of Object.entries(node.properties)) {
    walkOpen(child, key ? `${key}.${name}` : name, visit);
  }
}

const nodes = new WeakMap<z.ZodType, Node>();

/** A schema never changes, and each is asked for its fields, then for what it leaves open. */
function toNode(schema: z.ZodType): Node {
  const node = nodes.get(schema) ?? (z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Node);
  nodes.set(schema, node);
  return node;
}

function leaves(node: Node, path: readonly string[]): Field[] {
  if (node.properties === undefined) return [toField(node, path)];
  return Object.entries(node.properties).flatMap(([name, child]) => leaves(child, [...path, name]));
}

function toField(node: Node, path: readonly string[]): Field {
  const choices = choicesOf(node);
  const kind = choices ? 'string' : kindOf(node);
  const type = choices ? choices.join('|') : `${typeNames[kind]}${shortRange(node)}`;
  return {
    key: path.join('.'),
    path,
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

/** Bounds of a number as signs: ` ≥ 1`, ` 0 to 1`. */
function shortRange(node: Node): string {
  const { low, high } = boundsOf(node);
  if (low && high && !low.strict && !high.strict) return ` ${low.value} to ${high.value}`;
  const lower = low ? ` ${low.strict ? '>' : '≥'} ${low.value}` : '';
  const upper = high ? ` ${high.strict ? '<' : '≤'} ${high.value}` : '';
  return lower && upper ? `${lower},${upper}` : lower + upper;
}

interface Bound {
  readonly value: number;
  readonly strict: boolean;
}

function boundsOf(node: Node): { low?: Bound; high?: Bound } {
  // zod writes the range of safe integers into every integer; it tells a person nothing.
  const told = (value: number | undefined, safe: number): boolean => value !== undefined && value !== safe;
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = node;
  return {
    ...(told(minimum, Number.MIN_SAFE_INTEGER) && { low: { value: minimum!, strict: false } }),
    ...(exclusiveMinimum !== undefined && { low: { value: exclusiveMinimum, strict: true } }),
    ...(told(maximum, Number.MAX_SAFE_INTEGER) && { high: { value: maximum!, strict: false } }),
    ...(exclusiveMaximum !== undefined && { high: { value: exclusiveMaximum, strict: true } }),
  };
}

function rangeOf(node: Node, kind: Field['kind']): string {
  if (kind !== 'number' && kind !== 'integer') {
    return { boolean: 'true or false', string: 'text', list: 'words separated by commas', json: 'JSON' }[
      kind
    ];
  }
  const noun = kind === 'integer' ? 'an integer' : 'a number';
  const { low, high } = boundsOf(node);
  const bounds = [
    ...(low ? [`${low.strict ? 'above' : 'at least'} ${low.value}`] : []),
    ...(high ? [`${high.strict ? 'below' : 'at most'} ${high.value}`] : []),
  ];
  return [noun, bounds.join(' and ')].filter(Boolean).join(' ');
}
