/** The runs that are shown: those of a folder, or some of them. Found by listing, never by joining what somebody sent. */

import { commandIn, isOfOldFormat, runNames, unknownRun } from '../../store/runs.ts';
import { WatchedRun } from './watched-run.ts';

export interface ShownRuns {
  readonly root: string;
  /** Only these; all by default. */
  readonly names?: readonly string[];
  readonly version: string;
  /** Whether checkpoints may play while a run trains. */
  readonly play?: boolean;
}

export class RunsFolder {
  readonly root: string;
  readonly #shown: ShownRuns;
  readonly #runs = new Map<string, WatchedRun>();
  readonly #readable = new Map<string, boolean>();

  constructor(shown: ShownRuns) {
    this.root = shown.root;
    this.#shown = shown;
  }

  /** The command that makes a first run. */
  get begin(): string {
    return commandIn(this.root, 'train frozen-lake');
  }

  resume(name: string): string {
    return this.command(`resume ${name}`);
  }

  /** A command line of `turnwise` for this folder. */
  command(words: string): string {
    return commandIn(this.root, words);
  }

  /** The runs there are now. Those of an earlier format are left out, as in `turnwise runs`. */
  list(): WatchedRun[] {
    const { names } = this.#shown;
    return runNames(this.root)
      .filter((name) => (names === undefined || names.includes(name)) && this.#isReadable(name))
      .map((name) => this.#open(name));
  }

  /** @throws TurnwiseError `run-unknown` */
  find(name: string): WatchedRun {
    const run = this.list().find((one) => one.name === name);
    if (!run) throw unknownRun(this.root, name);
    return run;
  }

  #open(name: string): WatchedRun {
    let run = this.#runs.get(name);
    if (!run) {
      run = new WatchedRun(this.root, name, this.#shown.version);
      this.#runs.set(name, run);
    }
    return run;
  }

  /** The format of a run never changes. */
  #isReadable(name: string): boolean {
    let readable = this.#readable.get(name);
    if (readable === undefined) {
      readable = !isOfOldFormat(this.root, name);
      this.#readable.set(name, readable);
    }
    return readable;
  }
}
