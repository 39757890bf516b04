/** What a document that is sent to others must not hold: keys, passwords, and headers that have them. */

const secretName = /(^|[._-])(api[_-]?)?(key|token|secret|password|authorization)$/i;
const secretText =
  /\b(Bearer|Basic)\s+[\w.~+/=-]{12,}|\b(sk|tml|hf|ghp|gho|xox[bp]|AKIA)[-_]?[A-Za-z0-9_-]{16,}/g;

export const redaction = '(left out)';

const mostLevels = 100;

/** The same value, without what looks like a secret by its name or its form. */
export function redacted(value: unknown, name = '', level = 0): unknown {
  if (typeof value === 'string') {
    return secretName.test(name) && value !== '' ? redaction : value.replace(secretText, redaction);
  }
  if (Array.isArray(value)) return value.map((item) => redacted(item, '', level + 1));
  if (typeof value !== 'object' || value === null) return value;
  if (level > mostLevels) return JSON.parse(JSON.stringify(value).replace(secretText, redaction));
  // A row of a table of settings: its name is in it.
  const row = value as { readonly key?: unknown; readonly value?: unknown };
  const isRow = typeof row.key === 'string' && 'value' in row;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]): [string, unknown] => {
      if (isRow && key === 'key') return [key, field];
      return [key, redacted(field, isRow && key === 'value' ? (row.key as string) : key, level + 1)];
    }),
  );
}
