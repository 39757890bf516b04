/** Whether memory grows: weighings in order, cut into halves. */

import { mean } from '../../src/core/statistics.ts';

export interface Growth {
  readonly weighings: number;
  /** Means of the two halves, in megabytes. */
  readonly firstMegabytes: number;
  readonly secondMegabytes: number;
  readonly riseMegabytes: number;
  /** What it may rise by: the standard deviation of the weighings from the mean of their own half. */
  readonly noiseMegabytes: number;
  readonly grows: boolean;
}

/**
 * A process that grows evenly rises by 3.5 of these deviations, whatever its rate; one that only breathes, by less than one.
 *
 * @param megabytes_N after the start of the process, which may grow
 */
export function growthOf(megabytes_N: readonly number[]): Growth {
  const half = megabytes_N.length >> 1;
  if (half < 10) throw new Error(`${megabytes_N.length} weighings are too few. Allowed: 20 or more`);
  const halves = [megabytes_N.slice(0, half), megabytes_N.slice(-half)] as const;
  const [first, second] = [mean(halves[0]), mean(halves[1])];
  const squares = halves.flatMap((values) => {
    const own = mean(values);
    return values.map((value) => (value - own) ** 2);
  });
  const noise = Math.sqrt(mean(squares));
  const rise = second - first;
  return {
    weighings: megabytes_N.length,
    firstMegabytes: round(first),
    secondMegabytes: round(second),
    riseMegabytes: round(rise),
    noiseMegabytes: round(noise),
    grows: rise > noise,
  };
}

const round = (figure: number): number => Math.round(100 * figure) / 100;
