/** Colours of charts: those of the style sheet, as the theme has them now. */

import { theme } from '../navigation/theme.ts';

export type Colour =
  | 'blue'
  | 'red'
  | 'green'
  | 'purple'
  | 'grey'
  | 'ink'
  | 'ink2'
  | 'ink3'
  | 'line'
  | 'band'
  | 'soft'
  | 'panel';

let known: { readonly theme: string; readonly colours: Map<Colour, string> } | undefined;

export function colour(name: Colour): string {
  const now = theme.peek();
  if (known?.theme !== now) known = { theme: now, colours: new Map() };
  let found = known.colours.get(name);
  if (found === undefined) {
    found = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    known.colours.set(name, found);
  }
  return found;
}

export const seriesColours: readonly Colour[] = ['blue', 'red', 'green', 'purple'];
/** Solid, dashed, dotted, dash-dot: told apart without colour too. */
export const dashes: readonly (readonly number[])[] = [[], [6, 4], [2, 3], [8, 3, 2, 3]];
