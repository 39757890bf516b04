/** A comparison as `turnwise compare` stores it beside its report, in `results.json`, for the page that shows it. */

export const comparisonFile = 'results.json';

export interface StoredBandPoint {
  /** What was spent, in the unit of the world's axis. */
  readonly spent: number;
  readonly value: number;
  readonly low?: number;
  readonly high?: number;
}

export interface StoredArm {
  readonly arm: string;
  /** Of so many seeds, so many count. */
  readonly seeds: number;
  readonly counted: number;
  /** Means over seeds; absent where none counts. */
  readonly figures?: {
    readonly warm: number;
    readonly final: number;
    readonly area: number;
    readonly collapses: number;
    readonly tokens: number;
    readonly secondsPerStep: number;
  };
  readonly curve: readonly StoredBandPoint[];
  /** Final values, seed by seed. */
  readonly finals: readonly number[];
}

export interface StoredWorld {
  readonly world: string;
  readonly title: string;
  readonly axis: string;
  readonly isShare: boolean;
  readonly arms: readonly StoredArm[];
}

export interface StoredPair {
  readonly first: string;
  readonly second: string;
  readonly metric: string;
  readonly world: string;
  /** The second minus the first. */
  readonly mean: number;
  readonly low?: number;
  readonly high?: number;
  /** As the terminal writes it. */
  readonly text: string;
  readonly p: string;
  /** Wins, ties and losses of the second. */
  readonly wins: string;
}

export interface StoredComparison {
  readonly version: 1;
  readonly name: string;
  readonly time: string;
  readonly conclusion: string;
  readonly worlds: readonly StoredWorld[];
  readonly pairs: readonly StoredPair[];
  readonly overall: readonly {
    readonly arm: string;
    readonly mean: number;
    readonly interquartileMean: number;
    readonly profile: readonly number[];
  }[];
  readonly thresholds: readonly number[];
  readonly improvement: readonly {
    readonly first: string;
    readonly second: string;
    readonly probability: number;
  }[];
}
