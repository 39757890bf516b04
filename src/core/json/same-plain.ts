/** Whether two plain values are the same, whatever the order of their keys; numbers as `Object.is` has them. */
export function samePlain(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [keys, others] = [Object.keys(a), Object.keys(b)];
  const fieldOf = (object: object, key: string): unknown =>
    (object as Readonly<Record<string, unknown>>)[key];
  return (
    keys.length === others.length &&
    keys.every((key) => Object.hasOwn(b, key) && samePlain(fieldOf(a, key), fieldOf(b, key)))
  );
}
