/** A recipe: a named composition of credit, objective and schedule, with its source and defaults. */

import type { TrainSettings } from '../config.ts';

export interface Recipe {
  readonly name: string;
  /** One line: what it does to the rewards and the loss. */
  readonly summary: string;
  /** Advantage and loss, a line each; `docs/methods.md` shows them as they are. */
  readonly formula: readonly string[];
  /** Ends the sentence "Use it when". */
  readonly use: string;
  /** Paper or other source. */
  readonly source: string;
  /** What the authors used, as they wrote it, where it is known; what runs here is in `settings`. */
  readonly authors: string;
  /** Whether it trains a value head. */
  readonly critic: boolean;
  /** What the environment must have. */
  readonly needs?: { readonly severalRoles?: boolean };
  readonly settings: TrainSettings;
}
