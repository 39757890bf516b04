/** How a run page is shown: what of it the address says. */

import { type Axis, axes } from '../../series.ts';
import { smoothings } from '../charts/curve.ts';
import { useKeys } from '../navigation/keys.ts';
import { show } from '../navigation/router.ts';

export interface View {
  readonly axis: Axis;
  readonly smoothing: (typeof smoothings)[number];
  /** The step that somebody chose. */
  readonly step: number | undefined;
  /** Of the groups of the step: only those with so many members that succeeded. */
  readonly bar: string | undefined;
}

export function viewOf(query: URLSearchParams): View {
  const axis = axes.find((name) => name === query.get('x')) ?? 'step';
  const smoothing = smoothings.find((amount) => String(amount) === query.get('smooth')) ?? 0.8;
  const step = query.get('step');
  return {
    axis,
    smoothing,
    step: step !== null && /^\d+$/.test(step) ? Number(step) : undefined,
    bar: query.get('bar') ?? undefined,
  };
}

/** The stored step that is nearest to the one that was asked for; the last without one. */
export function nearestStored(stored: readonly number[], step: number | undefined): number | undefined {
  if (step === undefined) return stored.at(-1);
  return stored.reduce<number | undefined>(
    (best, one) => (best === undefined || Math.abs(one - step) < Math.abs(best - step) ? one : best),
    undefined,
  );
}

/** Keys for how curves are drawn. */
export function useViewKeys({ axis, smoothing }: View): void {
  useKeys([
    {
      key: 'x',
      does: 'next x-axis',
      act: () => show({ x: axes[(axes.indexOf(axis) + 1) % axes.length] }),
    },
    {
      key: 's',
      does: 'smoothing',
      act: () => show({ smooth: smoothings[(smoothings.indexOf(smoothing) + 1) % smoothings.length] }),
    },
  ]);
}
