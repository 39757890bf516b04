/** A recipe: a named composition of credit, objective and schedule, with its source and defaults. */

import type { Group } from '../../core/trajectory.ts';
import type { CreditField } from '../../credit/fields.ts';
import type { CollectOptions, GroupRequest } from '../../rollout/collect.ts';
import type { TrainConfig, TrainSettings } from '../config.ts';

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
  readonly needs?: {
    readonly severalRoles?: boolean;
    readonly oneRole?: boolean;
    /** Fields that the environment gives in `info.credit`, besides those that the credit method cannot do without. */
    readonly facts?: readonly CreditField[];
    /** Its roles, by name. */
    readonly roles?: readonly string[];
  };
  /** How episodes are played, where not each from the start. */
  readonly play?: (
    requests: readonly GroupRequest[],
    options: CollectOptions & { readonly branching: TrainConfig['branching'] },
  ) => Promise<Group[]>;
  readonly settings: TrainSettings;
}
