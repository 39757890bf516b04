/** The operations that questions are made of: named functions that the sandbox holds and that answers are checked with. */

export type Kind = 'list' | 'text' | 'number';
export type Value = number | string | readonly number[];

interface Operation {
  readonly from: Kind;
  readonly to: Kind;
  /** Its text goes to the sandbox, so it may use nothing but its argument. */
  readonly apply: (value: never) => Value;
}

function operation<Input extends Value>(from: Kind, to: Kind, apply: (value: Input) => Value): Operation {
  return { from, to, apply };
}

export const OPERATIONS: Readonly<Record<string, Operation>> = {
  sum: operation('list', 'number', (list: readonly number[]) =>
    list.reduce((total, item) => total + item, 0),
  ),
  largest: operation('list', 'number', (list: readonly number[]) => Math.max(...list)),
  smallest: operation('list', 'number', (list: readonly number[]) => Math.min(...list)),
  size: operation('list', 'number', (list: readonly number[]) => list.length),
  first: operation('list', 'number', (list: readonly number[]) => list[0]!),
  last: operation('list', 'number', (list: readonly number[]) => list[list.length - 1]!),
  evens: operation('list', 'list', (list: readonly number[]) => list.filter((item) => item % 2 === 0)),
  unique: operation('list', 'list', (list: readonly number[]) => [...new Set(list)]),
  sorted: operation('list', 'list', (list: readonly number[]) => [...list].sort((a, b) => a - b)),
  reversed: operation('list', 'list', (list: readonly number[]) => [...list].reverse()),
  rest: operation('list', 'list', (list: readonly number[]) => list.slice(1)),
  upper: operation('text', 'text', (text: string) => text.toUpperCase()),
  mirrored: operation('text', 'text', (text: string) => [...text].reverse().join('')),
  repeated: operation('text', 'text', (text: string) => text + text),
  letters: operation('text', 'number', (text: string) => text.length),
  double: operation('number', 'number', (number: number) => number * 2),
  square: operation('number', 'number', (number: number) => number * number),
  next: operation('number', 'number', (number: number) => number + 1),
};

export const OPERATION_NAMES: readonly string[] = Object.keys(OPERATIONS);

export function applyOperation(name: string, value: Value): Value {
  return OPERATIONS[name]!.apply(value as never);
}

/**
 * Code that defines the operations in a sandbox. Each refuses a value of the wrong kind; a list that came as JSON text
 * is refused as "unparsed", and `parse` reads it.
 */
export function librarySource(): string {
  const kind =
    "(v) => (Array.isArray(v) ? 'list' : typeof v === 'string' ? (v[0] === '[' ? 'unparsed text' : 'text') : typeof v)";
  const check = `(kind) => (name, from, apply) => (globalThis[name] = (value) => {
    if (kind(value) !== from) throw new TypeError(name + ' needs a ' + from + ', not ' + kind(value));
    return apply(value);
  })`;
  const define = `const define = (${check})(${kind});`;
  const definitions = Object.entries(OPERATIONS).map(
    ([name, { from, apply }]) => `define('${name}', '${from}', ${apply});`,
  );
  return `{ ${define}\n${definitions.join('\n')}\ndefine('parse', 'unparsed text', (text) => JSON.parse(text)); }`;
}
