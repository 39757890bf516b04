/** To what comes before and after: in the title, and at the foot of a narrow screen, where a thumb is. */

import type { ComponentChildren } from 'preact';
import { prefetch } from '../data/loaded.ts';
import { useKeys } from '../navigation/keys.ts';
import { go } from '../navigation/router.ts';

/** Addresses; undefined at an end. */
export interface Beside {
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** What the next page will ask for. */
  readonly asks?: string | undefined;
}

interface PagerProps {
  /** Its kind, in the names of the keys. */
  readonly what: string;
  readonly beside: Beside;
  readonly children?: ComponentChildren;
}

export function Pager({ what, beside: { before, after, asks }, children }: PagerProps) {
  const to = (address: string | undefined) => () => {
    if (address !== undefined) go(address);
  };
  useKeys([
    { key: ']', does: `next ${what}`, act: to(after) },
    { key: '[', does: `previous ${what}`, act: to(before) },
  ]);
  return (
    <div class="tools pager">
      <button type="button" disabled={before === undefined} onClick={to(before)}>
        <kbd>[</kbd> Previous
      </button>
      <button
        type="button"
        disabled={after === undefined}
        onMouseEnter={() => asks !== undefined && prefetch(asks)}
        onClick={to(after)}
      >
        Next <kbd>]</kbd>
      </button>
      {children}
    </div>
  );
}
