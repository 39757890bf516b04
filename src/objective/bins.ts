/** A value as a distribution over equal bins: where the bins lie. */

export interface Bins {
  readonly bins: number;
  readonly low: number;
  readonly high: number;
}

export function binWidth({ bins, low, high }: Bins): number {
  return (high - low) / bins;
}

/** The middle of each bin: the value that its probability stands for. */
export function binCentres(range: Bins): number[] {
  return Array.from({ length: range.bins }, (_, index) => range.low + (index + 0.5) * binWidth(range));
}

/** The bounds of the bins, one more than there are bins. */
export function binEdges(range: Bins): number[] {
  return Array.from({ length: range.bins + 1 }, (_, index) => range.low + index * binWidth(range));
}
