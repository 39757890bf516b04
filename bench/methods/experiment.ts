/** What an experiment about a method is: what was asked, what is compared, and what it came to. It ends in no verdict: claims do. */

export interface Experiment {
  /** As `npm run bench -- methods NAME` and the file of its results call it. */
  readonly name: string;
  /** Recipes, credit methods and objectives that it is evidence for. */
  readonly methods: readonly string[];
  /** What is expected, and of what; written before the first run. */
  readonly claim: string;
  readonly source: string;
  /** Environment, model and budget, in words. */
  readonly setup: string;
  /** What is compared; each arm runs with every seed. */
  readonly arms: readonly [string, ...string[]];
  readonly comparisons: readonly [Comparison, ...Comparison[]];
  /** Runs of an arm unless the command says otherwise. */
  readonly seeds: number;
  run(arm: string, seed: number): Promise<Outcome>;
  /** What the curves of its outcomes show. Default: success while learning. */
  readonly curve?: string;
  /** What the result means beyond the figures, or why the effect may not show here. */
  readonly remarks?: string;
}

/** What about a method can be seen on a table of logits: it holds for any seed, which a test shows with one. */
export type Table = Omit<Experiment, 'seeds' | 'curve' | 'remarks'>;

/** A statement about two arms. */
export interface Comparison {
  /** Name of a figure of the outcomes. */
  readonly figure: string;
  /** The arm that the claim is about, and the one it is compared with. */
  readonly arm: string;
  readonly against: string;
  /** `no-worse` allows the mean to be lower by `margin`. */
  readonly expect: 'higher' | 'lower' | 'no-worse';
  /** The figure is to be so many times higher, or lower; default: any difference. */
  readonly factor?: number;
  readonly margin?: number;
}

/** What one run came to. */
export interface Outcome {
  readonly figures: Readonly<Record<string, number>>;
  /** A figure over the run, of points at even distances: its picture is in `docs/curves/`. */
  readonly curve?: readonly number[];
}

export interface StoredRun extends Outcome {
  readonly seed: number;
}

/** What lies in `results/NAME.json`. */
export interface StoredResult {
  readonly experiment: string;
  readonly runs: Readonly<Record<string, readonly StoredRun[]>>;
}

/** An identity function that says where experiments are defined. */
export function defineExperiment(experiment: Experiment): Experiment {
  return experiment;
}

/** The same for tables. */
export function defineTable(table: Table): Table {
  return table;
}
