/** All objectives: the one place where names meet losses. */

import type { z } from 'zod';
import { type ErrorParts, TurnwiseError } from '../core/errors.ts';
import { createRegistry, type Registry } from '../core/registry.ts';
import { checkedObjective } from './contract/checked.ts';
import type { ObjectiveDescription, ObjectiveMethod } from './contract/define.ts';
import type { Objective } from './contract/objective.ts';
import { archerActor, archerCritic, archerIql } from './critic/archer.ts';
import { bestOfNExtraction } from './critic/best-of-n.ts';
import { bradleyTerry } from './critic/bradley-terry.ts';
import { hlGauss, twoHot } from './critic/categorical-value.ts';
import { ilql, mcReturns } from './critic/ilql.ts';
import { valueLoss } from './critic/value.ts';
import { advantageWeighted } from './imitation/advantage-weighted.ts';
import { crossEntropy } from './imitation/cross-entropy.ts';
import { filteredBc } from './imitation/filtered-bc.ts';
import { forwardKl } from './imitation/forward-kl.ts';
import { gtr, sftRl } from './imitation/imitation-mix.ts';
import { selfImitation } from './imitation/self-imitation.ts';
import { aepoClip } from './policy-gradient/aepo-clip.ts';
import { cispo } from './policy-gradient/cispo.ts';
import { clipCov } from './policy-gradient/clip-cov.ts';
import { counterfactual } from './policy-gradient/counterfactual.ts';
import { dro } from './policy-gradient/dro.ts';
import { gspo } from './policy-gradient/gspo.ts';
import { importanceSampling } from './policy-gradient/importance-sampling.ts';
import { klCov } from './policy-gradient/kl-cov.ts';
import { icepop, sequenceMask, truncatedImportanceSampling } from './policy-gradient/mismatch-correction.ts';
import { policyGradient } from './policy-gradient/policy-gradient.ts';
import { ppoClip } from './policy-gradient/ppo-clip.ts';
import { turnPpo } from './policy-gradient/turn-ppo.ts';
import { agentQ, dpo, eto } from './preference/dpo.ts';
import { kto } from './preference/kto.ts';
import { rebel, refuel } from './preference/rebel.ts';
import { entropyBonus } from './regularizer/entropy-bonus.ts';
import { entropySmoothing } from './regularizer/entropy-smoothing.ts';
import { klPenalty } from './regularizer/kl-penalty.ts';

export interface ObjectiveEntry {
  readonly name: string;
  readonly description: ObjectiveDescription;
  /** Strict, with a default and a description for every field. */
  readonly schema: z.ZodType;
  /** The objective with these settings; what it reads and needs is on it. Refuses unknown or invalid settings. */
  create(options?: unknown): Objective;
}

/**
 * How a registry holds an objective. One with a `subject`, what messages call it, is a user's: it is a policy loss, and what it
 * gives is checked.
 */
export function objectiveEntry<Schema extends z.ZodType>(
  method: ObjectiveMethod<Schema>,
  subject?: string,
): ObjectiveEntry {
  const { description, schema } = method;
  const { name } = description;
  const create = (options?: unknown): Objective => method(options as z.input<Schema>, subject);
  if (subject === undefined) return { name, description, schema, create };
  return {
    name,
    description: { policyLoss: {}, ...description },
    schema,
    create: (options) => checkedObjective(create(options), subject),
  };
}

export const objectives: readonly ObjectiveEntry[] = [
  objectiveEntry(ppoClip),
  objectiveEntry(policyGradient),
  objectiveEntry(importanceSampling),
  objectiveEntry(cispo),
  objectiveEntry(dro),
  objectiveEntry(gspo),
  objectiveEntry(turnPpo),
  objectiveEntry(aepoClip),
  objectiveEntry(clipCov),
  objectiveEntry(klCov),
  objectiveEntry(truncatedImportanceSampling),
  objectiveEntry(icepop),
  objectiveEntry(sequenceMask),
  objectiveEntry(counterfactual),
  objectiveEntry(archerActor),
  objectiveEntry(klPenalty),
  objectiveEntry(entropyBonus),
  objectiveEntry(entropySmoothing),
  objectiveEntry(crossEntropy),
  objectiveEntry(forwardKl),
  objectiveEntry(sftRl),
  objectiveEntry(gtr),
  objectiveEntry(advantageWeighted),
  objectiveEntry(filteredBc),
  objectiveEntry(selfImitation),
  objectiveEntry(bestOfNExtraction),
  objectiveEntry(dpo),
  objectiveEntry(eto),
  objectiveEntry(agentQ),
  objectiveEntry(kto),
  objectiveEntry(rebel),
  objectiveEntry(refuel),
  objectiveEntry(valueLoss),
  objectiveEntry(hlGauss),
  objectiveEntry(twoHot),
  objectiveEntry(archerCritic),
  objectiveEntry(archerIql),
  objectiveEntry(ilql),
  objectiveEntry(mcReturns),
  objectiveEntry(bradleyTerry),
];

const unknown = (parts: ErrorParts): TurnwiseError => new TurnwiseError('unknown-objective', parts);

const registry: Registry<ObjectiveEntry> = createRegistry(
  { noun: 'objective', field: 'objective', unknown },
  objectives,
);

/** Those that can be the policy loss of a run. */
export const policyLossRegistry: Registry<ObjectiveEntry> = createRegistry(
  { noun: 'policy loss', field: 'objective', unknown },
  objectives.filter(({ description }) => description.policyLoss !== undefined),
);

export const policyLosses: readonly string[] = policyLossRegistry.all.map(({ name }) => name);

/** The built-in objective of that name, or an error that names the nearest. */
export function findObjective(name: string): ObjectiveEntry {
  return registry.find(name);
}
