/** Colours of charts: those of the style sheet, as the theme has them now. */

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
  | 'panel';

export function colour(name: Colour): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export const seriesColours: readonly Colour[] = ['blue', 'red', 'green', 'purple'];
/** Solid, dashed, dotted, dash-dot: told apart without colour too. */
export const dashes: readonly (readonly number[])[] = [[], [6, 4], [2, 3], [8, 3, 2, 3]];
