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

/** Groups in which names stand beside each other, each with its options, or `false` for one that is left out. */
export const OPEN_GROUPS: readonly (readonly [group: string, inner?: string])[] = [
  ['curation'],
  ['credit', 'shape'],
];

/** The same settings without what is left out of them. */
export function withoutLeftOut(settings: Plain): Plain {
  return OPEN_GROUPS.reduce<Plain>((left, path) => withoutFalse(left, path), settings);
}

function withoutFalse(settings: Plain, [key, ...inner]: readonly (string | undefined)[]): Plain {
  if (key === undefined) {
    const kept = Object.entries(settings).filter(([, options]) => options !== false);
    return kept.length === Object.keys(settings).length ? settings : Object.fromEntries(kept);
  }
  const group = settings[key];
  return isPlain(group) ? { ...settings, [key]: withoutFalse(group, inner) } : settings;
}

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
