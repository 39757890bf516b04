/**
 * Corrections of the template engine where it parts from Python: `strip`, `lstrip` and `rstrip` with characters to remove
 * (the engine ignores them), `trim`, and which characters are white space. Also a clock that stands still, and refusals that
 * can be told from other errors.
 */

import { Template } from '@huggingface/jinja';

/** What `str.strip()` removes; JavaScript's `trim` removes U+FEFF too, and leaves U+001C to U+001F and U+0085. */
const WHITE_SPACE = '\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000'.concat(
  String.fromCharCode(...Array.from({ length: 11 }, (_, index) => 0x2000 + index)),
);

type Sides = 'strip' | 'lstrip' | 'rstrip';

/** Python's `text.strip(characters)` and its one-sided forms. */
export function pythonStrip(sides: Sides, text: string, characters: string = WHITE_SPACE): string {
  const remove = new Set(characters);
  const points = [...text];
  let start = 0;
  let end = points.length;
  if (sides !== 'rstrip') while (start < end && remove.has(points[start]!)) start++;
  if (sides !== 'lstrip') while (end > start && remove.has(points[end - 1]!)) end--;
  return points.slice(start, end).join('');
}

const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);
/** The day that the templates of Llama 3 name where no clock is given. */
const [YEAR, MONTH, DAY, WEEKDAY] = [2024, 7, 26, 'Friday'] as const;

/** `strftime_now` of a clock that stands still: prompts that change at midnight could not be extended, or resumed. */
function fixedDate(format: unknown): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const month = MONTHS[MONTH - 1]!;
  const parts: Readonly<Record<string, string>> = {
    Y: String(YEAR),
    y: two(YEAR % 100),
    m: two(MONTH),
    d: two(DAY),
    B: month,
    b: month.slice(0, 3),
    A: WEEKDAY,
    a: WEEKDAY.slice(0, 3),
    H: '12',
    M: '00',
    S: '00',
  };
  return String(format).replace(/%([A-Za-z])/g, (whole, letter: string) => parts[letter] ?? whole);
}

/** What a template raises itself, by `raise_exception`. */
export class TemplateRefusal extends Error {}

const stripping =
  (sides: Sides) =>
  (text: unknown, characters?: unknown): string =>
    pythonStrip(sides, asText(text), typeof characters === 'string' ? characters : undefined);

/** Functions that corrected templates call, by names that no template would use itself. */
export const templateFunctions: Readonly<Record<string, (...values: unknown[]) => string>> = {
  __strip: stripping('strip'),
  __lstrip: stripping('lstrip'),
  __rstrip: stripping('rstrip'),
  __strftime_now: fixedDate,
  __raise_exception: (message) => {
    throw new TemplateRefusal(String(message));
  },
};

/** Functions of the engine that are replaced: it does not let them be declared again. */
const REPLACED = new Set<unknown>(['strftime_now', 'raise_exception']);

/** How Jinja writes a value out before a filter of text sees it. */
function asText(value: unknown): string {
  if (value === undefined) return '';
  return value === null ? 'None' : String(value);
}

interface Node {
  readonly type: string;
  [part: string]: unknown;
}

/** A parsed template whose calls of the corrected methods and filters go to `templateFunctions`. */
export function parseTemplate(source: string): Template {
  const template = new Template(source);
  correct(template.parsed);
  return template;
}

function correct(value: unknown): unknown {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) value[index] = correct(item);
    return value;
  }
  if (value instanceof Map) {
    const entries = [...value].map(([key, item]) => [correct(key), correct(item)] as const);
    value.clear();
    for (const [key, item] of entries) value.set(key, item);
    return value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const node = value as Node;
  for (const part of Object.keys(node)) if (part !== 'type') node[part] = correct(node[part]);
  return corrected(node);
}

/** `text.strip(…)` becomes `__strip(text, …)`, and `text | trim` becomes `__strip(text)`. */
function corrected(node: Node): Node {
  if (node.type === 'Identifier' && REPLACED.has(node.value)) node.value = `__${node.value}`;
  if (node.type === 'CallExpression') {
    const callee = node.callee as Node;
    const name = (callee.property as Node | undefined)?.value;
    if (callee.type !== 'MemberExpression' || callee.computed || !isSides(name)) return node;
    return call(`__${name}`, [callee.object as Node, ...(node.args as Node[])]);
  }
  if (node.type === 'FilterExpression') {
    const filter = node.filter as Node;
    const [name, args] =
      filter.type === 'CallExpression'
        ? [(filter.callee as Node).value, filter.args as Node[]]
        : [filter.value, []];
    if (name === 'trim') return call('__strip', [node.operand as Node, ...args]);
  }
  return node;
}

function isSides(name: unknown): name is Sides {
  return name === 'strip' || name === 'lstrip' || name === 'rstrip';
}

/** A call of a function, made by the engine's own parser, since it does not export its node classes. */
function call(name: string, args: readonly Node[]): Node {
  const [expression] = new Template(`{{ ${name}() }}`).parsed.body as unknown as [Node];
  expression.args = args;
  return expression;
}
