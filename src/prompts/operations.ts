/** Changes of a list of experiences, as proposers write them. */

/** An experience joins, becomes another, or goes. `id` is its place: G0, G1 and so on. */
export type Operation =
  | { readonly op: 'ADD'; readonly text: string }
  | { readonly op: 'UPDATE'; readonly id: string; readonly text: string }
  | { readonly op: 'DELETE'; readonly id: string };

/**
 * The operations of an answer: its first JSON array of them, whatever brackets stand around it, such as those of `[G0]`. Undefined
 * where none can be read. KEEP does nothing.
 */
export function operationsIn(answer = ''): Operation[] | undefined {
  let from = answer.indexOf('[');
  while (from >= 0) {
    const end = endOf(answer, from);
    const operations = end === undefined ? undefined : operationsOf(answer.slice(from, end));
    if (operations) return operations;
    from = answer.indexOf('[', end ?? from + 1);
  }
  return undefined;
}

/** After the bracket that closes the one at `from`; brackets within strings are none. */
function endOf(answer: string, from: number): number | undefined {
  const parts = /"(?:[^"\\]|\\.)*"|[[\]]/gs;
  parts.lastIndex = from;
  let depth = 0;
  for (let found = parts.exec(answer); found; found = parts.exec(answer)) {
    if (found[0] === '[') depth++;
    else if (found[0] === ']') depth--;
    if (depth === 0) return parts.lastIndex;
  }
  return undefined;
}

function operationsOf(text: string): Operation[] | undefined {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(given)) return undefined;
  const read = given.map(operationOf);
  return read.includes(undefined) ? undefined : read.flatMap((one) => one ?? []);
}

/** Null does nothing; undefined cannot be read. */
function operationOf(given: unknown): Operation | null | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  const { op, id, text } = given as Readonly<Record<string, unknown>>;
  const name = typeof op === 'string' ? op.toUpperCase() : '';
  const said = typeof text === 'string' && text.trim() !== '' ? text.trim() : undefined;
  if (name === 'KEEP') return null;
  if (name === 'ADD') return said === undefined ? undefined : { op: name, text: said };
  if (typeof id !== 'string') return undefined;
  if (name === 'UPDATE') return said === undefined ? undefined : { op: name, id, text: said };
  return name === 'DELETE' ? { op: name, id } : undefined;
}

/**
 * The list after the operations, its places counted anew. Places are those before any of them; an update of one that is not
 * there joins, and a deletion of one that is not there does nothing.
 */
export function withOperations(experiences: readonly string[], operations: readonly Operation[]): string[] {
  const list = new Map<string, string>(experiences.map((text, index) => [`G${index}`, text]));
  let added = 0;
  for (const operation of operations) {
    if (operation.op === 'DELETE') list.delete(operation.id);
    else if (operation.op === 'UPDATE' && list.has(operation.id)) list.set(operation.id, operation.text);
    else list.set(`added ${added++}`, operation.text);
  }
  return [...new Set(list.values())];
}
