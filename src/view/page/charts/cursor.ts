/** One cursor for all charts of a page: where somebody points, and what somebody chose, on the x-axis that is shown. */

import { signal } from '@preact/signals';

export const cursorKey = 'page';
export const hoveredX = signal<number | undefined>(undefined);
export const pinnedX = signal<number | undefined>(undefined);
