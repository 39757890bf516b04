/** Changes of a list of experiences, as proposers write them. */

/** An experience joins, becomes another, or goes. `id` is its place: G0, G1 and so on. */
export type Operation =
  | { readonly op: 'ADD'; readonly text: string }
  | { readonly op: 'UPDATE'; readonly id: string; readonly text: string }
  | { readonly op: 'DELETE'; readonly id: string };

/** The operations of an answer, as a JSON array in it; undefined where there is none that can be read. KEEP does nothing. */
export function operationsIn(answer: string | undefined): Operation[] | undefined {
  const [from, to] = [answer?.indexOf('[') ?? -1, answer?.lastIndexOf(']') ?? -1];
  if (answer === undefined || from < 0 || to < from) return undefined;
  let given: unknown;
  try {
    given = JSON.parse(answer.slice(from, to + 1));
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
