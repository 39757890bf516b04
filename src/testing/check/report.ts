/** What a check of an environment says. */

import type { JsonObject } from '../../core/json/json.ts';

/** Something wrong, and where it shows. */
export interface Finding {
  /** The fault in one clause. */
  readonly fault: string;
  /** Options, split, task, seed and actions that show it again. */
  readonly counterexample: JsonObject;
  /** What to do next. */
  readonly next: string;
}

/** One line of a report. */
export interface Checked {
  readonly check: string;
  /** What was seen, in a few words. */
  readonly seen: string;
  readonly findings: readonly Finding[];
}

/** A report without faults passes. */
export interface CheckReport {
  readonly environment: string;
  readonly checks: readonly Checked[];
  readonly passes: boolean;
}
