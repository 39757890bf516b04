/** A recipe: a named composition of credit, objective and schedule, with its source and defaults. */

import type { TrainSettings } from '../config.ts';

export interface Recipe {
  readonly name: string;
  /** One line: what it does to the rewards and the loss. */
  readonly summary: string;
  /** Paper or other source. */
  readonly source: string;
  /** Whether it trains a value head. */
  readonly critic: boolean;
  readonly settings: TrainSettings;
}
