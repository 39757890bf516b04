/** Settings laid over settings. */

type Plain = { readonly [key: string]: unknown };

/** Of groups in which a name decides the options: the key of that name, and what a layer with another name leaves of those below. */
const NAMED: Readonly<
  Record<string, { readonly by: string; readonly leaves: (key: string) => boolean } | undefined>
> = {
  tasks: { by: 'name', leaves: () => false },
  turns: { by: 'name', leaves: () => false },
  context: { by: 'name', leaves: (key) => key === 'trained' },
  credit: { by: 'method', leaves: (key) => key === 'rewardScale' || key === 'shape' },
};

/** Later layers win, key by key. */
export function mergeSettings(...layers: readonly (Plain | undefined)[]): Plain {
  const merged: Record<string, unknown> = {};
  for (const layer of layers) {
    for (const [key, value] of Object.entries(layer ?? {})) {
      const below = merged[key];
      merged[key] =
        isPlain(value) && isPlain(below) ? mergeSettings(leftOf(key, below, value), value) : value;
    }
  }
  return merged;
}

/** What a layer leaves of the group below it. */
function leftOf(key: string, below: Plain, above: Plain): Plain {
  const named = NAMED[key];
  if (named === undefined) return below;
  const [before, after] = [below[named.by], above[named.by]];
  if (before === undefined || after === undefined || before === after) return below;
  return Object.fromEntries(Object.entries(below).filter(([own]) => named.leaves(own)));
}

function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
