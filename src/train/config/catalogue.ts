/** Where the names in a configuration are looked up: what is built in, and what a user brings to one run. */

import type { Registry } from '../../core/registry.ts';
import { builtInCredit, type CreditCatalogue } from '../../credit/shaping/shapings.ts';
import { type ObjectiveEntry, policyLossRegistry } from '../../objective/objectives.ts';
import { contextRegistry } from '../../rollout/context/contexts.ts';
import type { ContextStrategy } from '../../rollout/context/strategy.ts';

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
