/** Where the names in a configuration are looked up: what is built in, and what a user brings to one run. */

import type { Registry } from '../../core/registry.ts';
import { builtInCredit, type CreditCatalogue } from '../../credit/shaping/shapings.ts';
import { type ObjectiveEntry, policyLossRegistry } from '../../objective/objectives.ts';
import { type ContextStrategy, contextRegistry } from '../../rollout/context.ts';

export interface Catalogue extends CreditCatalogue {
  /** Those that can be the policy loss of a run. */
  readonly objectives: Registry<ObjectiveEntry>;
  readonly contexts: Registry<ContextStrategy>;
}

export const builtIns: Catalogue = {
  ...builtInCredit,
  objectives: policyLossRegistry,
  contexts: contextRegistry,
};
